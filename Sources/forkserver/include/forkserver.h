// Has no functions to call: `libforkserver.so` is preloaded into a shell by stepinit.
