# One line each; all they do stands in helpers/bootstrap.py, which also runs without make.
PYTHON ?= python3
BOOTSTRAP = @$(PYTHON) helpers/bootstrap.py

help:    ; $(BOOTSTRAP) help
lab:     ; $(BOOTSTRAP) lab $(ARGS)
test:    ; $(BOOTSTRAP) test $(ARGS)
quick:   ; $(BOOTSTRAP) quick $(ARGS)
execute: ; $(BOOTSTRAP) execute $(NB)
export:  ; $(BOOTSTRAP) export
bench:   ; $(BOOTSTRAP) bench
lock:    ; $(BOOTSTRAP) lock $(ARGS)

.PHONY: help lab test quick execute export bench lock
