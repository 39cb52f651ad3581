import { closes, controlsBut, each, endsWithClose, head, keeps, rejected, section } from './vector'

/** An answer with this first line. */
const line = (first: string) => `${head(first, 'content-length: 2')}ok`
const status = (code: string) => line(`HTTP/1.1 ${code} x`)

const codes = [
  200, 201, 202, 203, 206, 207, 226, 299, 300, 301, 302, 303, 307, 308, 399, 400, 401, 402, 403,
  404, 405, 407, 408, 409, 410, 412, 413, 415, 416, 417, 418, 421, 422, 425, 426, 428, 429, 431,
  451, 499, 500, 501, 502, 503, 504, 505, 507, 511, 529, 599, 600, 799, 999,
]

export const statusLines = [
  ...section('RFC 9112 4', {
    'version, status and reason': [line('HTTP/1.1 200 OK'), keeps('ok')],
    'an empty reason': [line('HTTP/1.1 200 '), keeps('ok')],
    'no reason, and no space before it': [line('HTTP/1.1 200'), keeps('ok')],
    'a reason of several words': [line('HTTP/1.1 200 All is well!'), keeps('ok')],
    'a reason with a tab': [line('HTTP/1.1 200 all\twell'), keeps('ok')],
    'a reason of blanks': [line('HTTP/1.1 200    '), keeps('ok')],
    'a reason with letters beyond ASCII': [line('HTTP/1.1 200 gr\xfc\xdfe'), keeps('ok')],
    'a reason in UTF-8': [line('HTTP/1.1 200 \xe2\x82\xac'), keeps('ok')],
    'a reason that is a number': [line('HTTP/1.1 200 404'), keeps('ok')],
    'a reason that looks like a field': [line('HTTP/1.1 200 content-length: 9'), keeps('ok')],
    'a reason of 8 KB': [line(`HTTP/1.1 200 ${'x'.repeat(8192)}`), keeps('ok')],
    'two spaces before the status': [line('HTTP/1.1  200 OK'), rejected],
    'a tab before the status': [line('HTTP/1.1\t200 OK'), rejected],
    'a tab behind the status': [line('HTTP/1.1 200\tOK'), rejected],
    'a vertical tab before the status': [line('HTTP/1.1\v200 OK'), rejected],
    'no space before the status': [line('HTTP/1.1200 OK'), rejected],
    'no status': [line('HTTP/1.1'), rejected],
    'no status but its space': [line('HTTP/1.1 '), rejected],
    'a reason in place of the status': [line('HTTP/1.1 OK'), rejected],
    'a reason without a space before it': [line('HTTP/1.1 200OK'), rejected],
    'a folded line': [line('HTTP/1.1 200\r\n OK'), rejected],
    'a bare CR in the reason': [line('HTTP/1.1 200 O\rK'), rejected],
    'a bare CR that hides a field': [line('HTTP/1.1 200 OK\rcontent-length: 9'), rejected],
    'two CRs at the end': [line('HTTP/1.1 200 OK\r'), rejected],
  }),
  ...section(
    'RFC 9112 4, control characters in the reason',
    each(controlsBut('\t\r\n'), (control) => line(`HTTP/1.1 200 a${control}b`), rejected),
  ),
  ...section('RFC 9112 2.2, lines without CR', {
    'the status line': ['HTTP/1.1 200 OK\ncontent-length: 2\r\n\r\nok', closes('ok')],
    'a status line without a reason': ['HTTP/1.1 200\ncontent-length: 2\r\n\r\nok', closes('ok')],
    'all lines, and the end of the head': ['HTTP/1.1 200 OK\ncontent-length: 2\n\nok', rejected],
    'the last field': ['HTTP/1.1 200 OK\r\ncontent-length: 2\n\r\nok', rejected],
    'the empty line': ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\nok', rejected],
    'a head of one line': ['HTTP/1.1 200 OK\n\nok', rejected],
  }),
  ...section(
    'RFC 9110 15, status codes',
    Object.fromEntries(
      codes.map((code) => [String(code), [status(String(code)), keeps('ok', { status: code })]]),
    ),
  ),
  ...section(
    'RFC 9110 15, what is no status code',
    each(
      ['20', '2', '2000', '20x', 'x00', '099', '000', '-20', '+20', '2 00', '20 0', '2.0', '0x8'],
      status,
      rejected,
    ),
  ),
  ...section('RFC 9112 2.3, versions', {
    '1.0': [line('HTTP/1.0 200 OK'), closes('ok')],
    '1.0 that ends with its connection': [`${head('HTTP/1.0 200 OK')}all`, endsWithClose('all')],
    ...each(
      [
        '0.9',
        '1.2',
        '1.9',
        '1.10',
        '1.',
        '.1',
        '1',
        '11.1',
        '1,1',
        '1.1.',
        '01.1',
        '1.01',
        '2',
        '2.0',
        '3',
      ],
      (version) => line(`HTTP/${version} 200 OK`),
      rejected,
    ),
  }),
  ...section(
    'RFC 9112 2.3, names of the protocol',
    each(
      [
        'http/1.1',
        'Http/1.1',
        'HTTPS/1.1',
        'HTTP /1.1',
        'HTTP/ 1.1',
        'HTTP1.1',
        'HTTP',
        'HTP/1.1',
        'ICY',
      ],
      (name) => line(`${name} 200 OK`),
      rejected,
    ),
  ),
  ...section(
    'RFC 9112 2.1, what is no answer of HTTP/1',
    each(
      [
        'GET / HTTP/1.1\r\nhost: h\r\n\r\n',
        'RTSP/1.0 200 OK\r\n\r\n',
        '\x15\x03\x01\x00\x02\x02\x46',
        '\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03',
        '\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80',
        'SSH-2.0-OpenSSH_9.2\r\n',
        '220 mail.example ESMTP\r\n',
        '-ERR unknown command\r\n',
        '<!DOCTYPE html><html></html>',
        '{"error":"bad request"}',
        'data: {}\n\n',
        '0\r\n\r\n',
      ],
      (bytes) => bytes,
      rejected,
    ),
  ),
  ...section(
    'RFC 9112 2.2, bytes before the status line',
    each(
      ['\r\n', '\n', '\r', ' ', '\t', '\0', '\xef\xbb\xbf', '\r\n\r\n', 'x'],
      (before) => `${before}${line('HTTP/1.1 200 OK')}`,
      rejected,
    ),
  ),
]
