"""Serves one model over llama.cpp's own HTTP server until it is ended: serve.py MODEL_FILE ALIAS PORT."""
import signal
import sys

import xllamacpp

file, alias, port = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = file
params.model_alias = {alias}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = 8192
params.n_parallel = 2
params.use_jinja = True
# With more, threads that wait for each other keep the other servers off a busy machine.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
signal.pause()
