"""Where steps on other machines say that they have begun and ended, and wait to be let go."""
import collections
import dataclasses
import socket
import threading
import time

from cluster import Problem

# The step of all workflows. What the meeting answers is run by it. Its lines show whether a log is whole.
STEP = '''set -u
for address in ADDRESSES; do exec 3<>/dev/tcp/$address/PORT && break; done 2>/dev/null
echo "$PIPECTL_COMMIT $PIPECTL_WORKFLOW $PIPECTL_RUN $PIPECTL_RUN_ATTEMPT" >&3
for number in 1 2 3; do echo "before $number"; done
read -r answer <&3 || exit 9
eval "$answer" || exit 8
for number in 1 2 3; do echo "after $number"; done
echo end >&3
'''
LOG = 'before 1\nbefore 2\nbefore 3\nafter 1\nafter 2\nafter 3\n'


@dataclasses.dataclass
class Visit:
    """A step that has begun."""
    commit: str
    workflow: str
    run: int
    attempt: int
    machine: str
    connection: socket.socket
    is_answered: bool = False
    has_ended: bool = False

    def go(self, line='true'):
        if not self.is_answered:
            self.is_answered = True
            try:
                self.connection.sendall(f'{line}\n'.encode())
            except OSError:
                pass


class Meeting:
    """Listens on the addresses at which nodes and hosts reach this machine; nobody else does."""

    def __init__(self, cluster):
        self.names = {address: host for host, address in cluster.addresses.items()}
        self.addresses = ['127.0.0.1', *cluster.gateways]
        self.lock, self.visits, self.open = threading.Condition(), collections.defaultdict(list), set()
        self.sockets, self.port = [], None
        for address in self.addresses:
            one = socket.create_server((address, self.port or 0))
            self.port = self.port or one.getsockname()[1]
            self.sockets.append(one)
            threading.Thread(target=self._accept, args=(one,), daemon=True).start()

    @property
    def step(self):
        return STEP.replace('ADDRESSES', ' '.join(self.addresses)).replace('PORT', str(self.port))

    def _accept(self, one):
        while True:
            try:
                connection, (address, _) = one.accept()
            except OSError:
                return
            machine = self.names.get(address, 'cluster')
            threading.Thread(target=self._serve, args=(connection, machine), daemon=True).start()

    def _serve(self, connection, machine):
        try:
            lines = connection.makefile()
            words = lines.readline().split()
            if len(words) != 4:
                return
            visit = Visit(words[0], words[1], int(words[2]), int(words[3]), machine, connection)
            with self.lock:
                self.visits[visit.commit].append(visit)
                if visit.commit in self.open:
                    visit.go()
                self.lock.notify_all()
            if lines.readline() == 'end\n':
                with self.lock:
                    visit.has_ended = True
                    self.lock.notify_all()
        except OSError:
            pass
        finally:
            connection.close()

    def arrival(self, commit, number=1, seconds=90):
        """Waits for the step of a commit to begin for the `number`th time."""
        with self.lock:
            if not self.lock.wait_for(lambda: len(self.visits[commit]) >= number, seconds):
                raise Problem(f'no step has begun within {seconds} s')
            return self.visits[commit][number - 1]

    def let_go(self, commit):
        """Lets the steps of a commit go on, also those that begin later."""
        with self.lock:
            self.open.add(commit)
            for visit in self.visits[commit]:
                visit.go()

    def begun(self, commit):
        with self.lock:
            return list(self.visits[commit])

    def close(self):
        for one in self.sockets:
            one.close()
