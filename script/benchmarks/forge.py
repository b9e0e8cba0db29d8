"""A GitHub on loopback, as a process of its own: it answers what pipectl asks an App's repository, notes when each
request came, and sends bursts of signed webhooks. It checks nothing: script/forges does that."""

import asyncio
import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.request

PROJECT = "octo/hello"
ROOT = f"/repos/{PROJECT}"
PERMISSIONS = {name: "write" for name in (
    "checks", "contents", "issues", "metadata", "pull_requests", "statuses", "security_events", "administration")}


def pull(number, head):
    side = {"ref": "main", "sha": head, "repo": {"id": 1, "full_name": PROJECT}}
    return {
        "number": number, "title": f"Change {number}", "state": "open", "draft": False, "labels": [], "merged": False,
        "user": {"login": "ada", "id": 1, "type": "User"}, "head": {**side, "ref": f"b{number}"}, "base": side,
        "author_association": "MEMBER", "updated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


class Server:
    def __init__(self):
        self.asked = []  # of checks: [seconds since 1970, status, conclusion, commit]
        self.heads = {}
        self.made = 100
        self.commits = {}

    async def serve(self):
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def connection(self, reader, writer):
        try:
            while line := await reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                came, length = time.time(), 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":", 1)[1])
                body = await reader.readexactly(length) if length else b""
                status, answer = self.answer(came, method, path, json.loads(body or b"{}"))
                text = json.dumps(answer).encode()
                head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
                writer.write(head.encode() + text)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def answer(self, came, method, path, body):
        if path == "/_heads":
            self.heads.update(body)
            return 200, {}
        if path == "/_asked":
            return 200, self.asked
        place = path.split("?")[0].removeprefix(ROOT)
        if method in ("POST", "PATCH") and place.startswith("/check-runs"):
            number = int(place.rsplit("/", 1)[1]) if method == "PATCH" else self.new()
            self.commits.setdefault(number, body.get("head_sha"))
            self.asked.append([came, body.get("status"), body.get("conclusion"), self.commits[number]])
            return 201, {"id": number, "external_id": body.get("external_id"), "output": {"annotations_count": 0}}
        if method != "GET":
            return 201, {"id": self.new(), "body": "", "token": "ghs_bench", "expires_at": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3_600))}
        if found := re.fullmatch(r"/pulls/(\d+)", place):
            head = self.heads.get(found[1])
            return (200, pull(int(found[1]), head)) if head else (404, {})
        if place == "/installation":
            return 200, {"id": 2, "permissions": PERMISSIONS}
        if place.endswith("/permission"):
            return 200, {"permission": "write"}
        if place.endswith("/check-runs"):
            return 200, {"check_runs": []}
        if place == "/app":
            return 200, {"slug": "pipectl", "id": 1}
        if place == "":
            return 200, {"private": False, "permissions": {"push": True}}
        return 200, []

    def new(self):
        self.made += 1
        return self.made


async def burst(url, secret, count, width, first):
    """The seconds of each answer to `count` different deliveries, over `width` connections."""
    host, port, path = re.match(r"http://([\d.]+):(\d+)(/.*)", url).groups()
    waiting = []
    for number in range(first, first + count):
        body = json.dumps({
            "action": "edited", "number": number % 900 + 5_000, "repository": {"full_name": PROJECT}, "at": number,
            "pull_request": {"number": number % 900 + 5_000, "title": "x" * 8_000}, "sender": {"login": "ada", "id": 1},
        }).encode()
        code = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        waiting.append((
            f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nx-github-delivery: {number}\r\n"
            f"x-hub-signature-256: sha256={code}\r\ncontent-length: {len(body)}\r\n\r\n").encode() + body)
    times = []

    async def send():
        reader, writer = await asyncio.open_connection(host, int(port))
        while waiting:
            delivery = waiting.pop()
            started = time.perf_counter()
            writer.write(delivery)
            status = int((await reader.readline()).split()[1])
            length = 0
            while (header := await reader.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":", 1)[1])
            await reader.readexactly(length)
            times.append([time.perf_counter() - started, status])
        writer.close()

    started = time.time()
    await asyncio.gather(*(send() for _ in range(width)))
    return {"started": started, "seconds": time.time() - started, "times": times}


class Forge:
    """The server, for a part."""

    def __init__(self, bench):
        self.bench = bench
        out = f"{bench.root}/forge-port"
        with open(out, "w") as file:
            self.process = bench.start([sys.executable, os.path.abspath(__file__)], output=file)
        self.url = f"http://127.0.0.1:{bench.wait_for(out).strip()}"

    def control(self, name, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/_{name}", data), timeout=20) as answer:
            return json.load(answer)

    def connect(self, home, repository):
        """Connects a repository that the daemon watches, and returns the URL and the secret of its webhooks."""
        key = f"{self.bench.root}/forge-key.pem"
        if not os.path.exists(key):
            self.bench.run(["openssl", "genrsa", "-traditional", "-out", key, "2048"])
        form = self.bench.run(
            [self.bench.pipectl, "forge", "connect", f"{self.url}/{PROJECT}", "--kind", "github", "--api", self.url,
             "--app", "1", "--key-file", key, "--repository", repository], home=home).stdout.decode()
        return re.search(r"http:\S+/hooks/\S+", form)[0], re.search(r"secret +([0-9a-f]{64})", form)[1]

    def open(self, number, head):
        """The forge has this change."""
        self.control("heads", {str(number): head})

    def shown(self, commit, status, seconds=60):
        """When the first request came that shows `status` at a commit."""
        found = []

        def look():
            found[:] = [asked for asked in self.control("asked") if asked[3] == commit and asked[1] == status]
            return found

        self.bench.wait_until(f"{status} at {commit[:10]}", look, seconds, pause=0.05)
        return found[0][0]

    @staticmethod
    def deliver(hook, event):
        """Sends one webhook, and returns the moment before."""
        url, secret = hook
        body = json.dumps({"repository": {"full_name": PROJECT}, **event}).encode()
        code = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(url, body, {
            "content-type": "application/json", "x-github-delivery": os.urandom(8).hex(),
            "x-hub-signature-256": f"sha256={code}"})
        started = time.time()
        with urllib.request.urlopen(request, timeout=20) as answer:
            answer.read()
        return started

    def begin_burst(self, hook, count, first, name):
        """Begins a burst in a process of its own; `end_burst` returns what it measured."""
        with open(f"{self.bench.root}/{name}", "w") as file:
            return self.bench.start(
                [sys.executable, os.path.abspath(__file__), *hook, str(count), str(first)], output=file)

    def end_burst(self, process, name):
        if process.wait(timeout=600) != 0:
            with open(f"{self.bench.root}/{name}") as file:
                raise RuntimeError(f"the burst ended with {process.returncode}: {file.read()[-2000:]}")
        self.bench.processes.remove(process)
        with open(f"{self.bench.root}/{name}") as file:
            return json.load(file)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(burst(sys.argv[1], sys.argv[2], int(sys.argv[3]), 8, int(sys.argv[4])))))
    else:
        asyncio.run(Server().serve())
