"""Another machine, for the tests of places: a process with a folder of its own, which nobody else writes to.

It serves one request for each connection to a socket. A message is a line of JSON, followed by as many bytes as its
member "bytes" says.
"""
import base64, json, os, resource, shutil, signal, socketserver, stat, subprocess, sys, tarfile, tempfile, threading, time

root = tempfile.mkdtemp(prefix="pipectl-machine-")
for name in ("workspace", "values", "published"):
    os.mkdir(f"{root}/{name}")
running, lock = set(), threading.Lock()


def folder(request):
    """The folder of a request: the workspace, or what an attempt published."""
    label = request.get("label")
    return f"{root}/published/{label}" if label else f"{root}/workspace"


def inside(request):
    """The path of a request. No part of it may be a link or lead out of its folder."""
    path, parts = folder(request), request["path"].split("/")
    if any(part in ("", ".", "..", ".git") for part in parts):
        raise PermissionError("the path leaves the workspace")
    for part in parts[:-1]:
        path += "/" + part
        if os.path.islink(path):
            raise PermissionError("its folder is gone or a link")
    return path + "/" + parts[-1]


class Session(socketserver.StreamRequestHandler):
    def send(self, message, content=b""):
        self.wfile.write(json.dumps({**message, "bytes": len(content)}).encode() + b"\n" + content)

    def receive(self):
        line = self.rfile.readline()
        if not line:
            return None, b""
        message = json.loads(line)
        return message, self.rfile.read(message.get("bytes", 0))

    def handle(self):
        request, content = self.receive()
        if request is None:
            return
        try:
            getattr(self, "do_" + request["do"])(request, content)
        except OSError as error:
            self.send({"error": error.errno or 0, "reason": str(error)})

    def do_prepare(self, request, content):
        """Unpacks the files of the commit."""
        archive = f"{root}/commit.tar"
        with open(archive, "wb") as file:
            file.write(content)
        with tarfile.open(archive) as tar:
            tar.extractall(f"{root}/workspace")
        os.remove(archive)
        info = os.stat(f"{root}/workspace")
        self.send({"workspace": f"{root}/workspace", "begunAt": info.st_ctime})

    def do_run(self, request, content):
        """Runs a command, passes its output on, and ends it when the client asks for that."""
        variables = dict(request["environment"])
        variables["PIPECTL_WORKSPACE"] = f"{root}/workspace"
        variables["PIPECTL_VALUES_IN"] = f"{root}/values"
        secrets = tempfile.mkdtemp(dir=root)
        for secret in request["secrets"]:
            file = os.open(f"{secrets}/{secret['name']}", os.O_WRONLY | os.O_CREAT, 0o400)
            os.write(file, base64.b64decode(secret["content"]))
            os.close(file)
            variables[secret["variable"]] = f"{secrets}/{secret['name']}"
        if request["publishes"]:
            variables["PIPECTL_VALUES_OUT"] = f"{root}/published/{request['label']}"
            os.mkdir(variables["PIPECTL_VALUES_OUT"], 0o700)

        def limit():
            for kind, value in ((resource.RLIMIT_CPU, request["cpu"]), (resource.RLIMIT_FSIZE, request["fileSize"])):
                if value:
                    resource.setrlimit(kind, (value, value))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

        try:
            child = subprocess.Popen(
                request["command"], cwd=f"{root}/workspace/{request['folder']}", env=variables, preexec_fn=limit,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            shutil.rmtree(secrets)
            return self.send({"unstarted": error.errno})
        with lock:
            running.add(child.pid)
        asked, killed, done = threading.Event(), threading.Event(), threading.Event()

        def end():
            if self.receive()[0] is None:
                asked.set()
            asked.set()
            try:
                os.killpg(child.pid, signal.SIGTERM)
                if not done.wait(request["grace"]):
                    killed.set()
                    os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        watcher = threading.Thread(target=end, daemon=True)
        watcher.start()

        def reap():
            child.wait()
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        threading.Thread(target=reap, daemon=True).start()
        while piece := os.read(child.stdout.fileno(), 1 << 16):
            self.send({"output": True}, piece)
        status = child.wait()
        done.set()
        with lock:
            running.discard(child.pid)
        shutil.rmtree(secrets)
        self.send({"status": status, "wasAsked": asked.is_set(), "wasKilled": killed.is_set()})

    def do_search(self, request, content):
        """Lists everything below a folder but .git."""
        entries, top = [], folder(request)
        for path, folders, files in os.walk(top):
            if path == top and ".git" in folders:
                folders.remove(".git")
            names = files + [name for name in folders if os.path.islink(f"{path}/{name}")]
            empty = not folders and not files
            for name in names + ([None] if empty and path != top else []):
                whole = f"{path}/{name}" if name else path
                info = os.lstat(whole)
                entries.append({
                    "path": os.path.relpath(whole, top), "kind": stat.S_IFMT(info.st_mode), "bytes": info.st_size,
                    "mode": info.st_mode, "inode": info.st_ino, "changed": info.st_ctime_ns,
                    "target": os.readlink(whole) if stat.S_ISLNK(info.st_mode) else None})
        self.send({"entries": entries})

    def do_read(self, request, content):
        file = os.open(inside(request), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(file, "rb") as source:
            info = os.fstat(file)
            if not stat.S_ISREG(info.st_mode):
                return self.send({"error": 0, "reason": "it is not a regular file"})
            self.send({}, source.read())

    def do_value(self, request, content):
        with open(f"{root}/values/{request['name']}.json", "wb") as file:
            file.write(content)
        self.send({})

    def do_write(self, request, content):
        path = inside(request)
        os.makedirs(path if request["kind"] == "folder" else os.path.dirname(path), exist_ok=True)
        if request["kind"] == "link":
            os.symlink(content.decode(), path + ".new")
            os.replace(path + ".new", path)
        elif request["kind"] == "file":
            with open(path + ".new", "wb") as file:
                file.write(content)
            os.chmod(path + ".new", 0o755 if request["isExecutable"] else 0o644)
            os.replace(path + ".new", path)
        self.send({})

    def do_remove(self, request, content):
        path = inside(request) if "path" in request else folder(request)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path) if "label" in request else os.rmdir(path)
        else:
            os.remove(path)
        self.send({})

    def do_end(self, request, content):
        with lock:
            isEnded = not running
        self.send({"isAllEnded": isEnded})
        shutil.rmtree(root, ignore_errors=True)
        os._exit(0)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


# A machine that nobody wants any more ends by itself.
threading.Thread(target=lambda: (time.sleep(120), shutil.rmtree(root, ignore_errors=True), os._exit(1)), daemon=True).start()
Server(sys.argv[1], Session).serve_forever()
