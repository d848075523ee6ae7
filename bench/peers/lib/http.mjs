// A client of HTTP/1.1 that costs little: connections that are kept, one request at a time on each, answers in JSON with their length
// or in chunks. On a machine with two cores node:http would take as much of them as the engines that are measured.
import net from 'node:net';

class Connection {
  constructor(pool) {
    this.pool = pool;
    this.received = null;
    this.waiting = null;
    this.socket = net.connect({ host: pool.host, port: pool.port, noDelay: true });
    this.socket.on('data', (piece) => this.take(piece));
    this.socket.on('error', (failure) => this.end(failure));
    this.socket.on('close', () => this.end(new Error('the connection was closed')));
  }
  end(failure) {
    this.pool.free = this.pool.free.filter((one) => one !== this);
    this.waiting?.failed(failure);
    this.waiting = null;
    this.socket.destroy();
  }
  take(piece) {
    this.received = this.received ? Buffer.concat([this.received, piece]) : piece;
    const all = this.received;
    const end = all.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = all.latin1Slice(0, end).toLowerCase();
    const length = /\r\ncontent-length: *(\d+)/.exec(head);
    let body;
    if (length) {
      if (all.length < end + 4 + Number(length[1])) return;
      body = all.utf8Slice(end + 4, end + 4 + Number(length[1]));
    } else if (head.includes('\r\ntransfer-encoding: chunked')) {
      const pieces = [];
      for (let at = end + 4; ;) {
        const line = all.indexOf('\r\n', at);
        if (line < 0) return;
        const size = parseInt(all.latin1Slice(at, line), 16);
        if (all.length < line + 2 + size + 2) return;
        if (!size) break;
        pieces.push(all.subarray(line + 2, line + 2 + size));
        at = line + 2 + size + 2;
      }
      body = Buffer.concat(pieces).toString('utf8');
    } else body = '';
    const { done, failed } = this.waiting;
    this.received = this.waiting = null;
    if (head.includes('\r\nconnection: close')) this.end();
    else this.pool.free.push(this);
    const status = Number(head.slice(9, 12));
    if (status < 300) done(body);
    else failed(new Error(status + ' ' + body.slice(0, 200)));
  }
}

// call(method, path, body): the text of the answer; an error for every status that is not a success.
export function httpClient(host, port) {
  const pool = { host, port, free: [] };
  return (method, path, body) => new Promise((done, failed) => {
    const data = body === undefined ? '' : JSON.stringify(body);
    const connection = pool.free.pop() ?? new Connection(pool);
    connection.waiting = { done, failed };
    const declared = body === undefined ? '' : 'content-type: application/json\r\n';
    connection.socket.write(`${method} ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\n${declared}content-length: ${Buffer.byteLength(data)}\r\n\r\n${data}`);
  });
}
