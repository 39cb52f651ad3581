import { chunked, closes, controlsBut, each, keeps, rejected, section } from './vector'

/** A body of `hello` with these lines after its last chunk. */
const trailed = (...lines: string[]) =>
  chunked(`5\r\nhello\r\n0\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
const without = (...names: string[]) =>
  keeps('hello', { fields: Object.fromEntries(names.map((name) => [name, null])) })

export const trailers = [
  ...section('RFC 9112 7.1.2, fields behind a body, which are dropped', {
    one: [trailed('x: y'), without('x')],
    several: [trailed('x: y', 'z: -', 'x: again'), without('x', 'z')],
    'without a value': [trailed('x:'), without('x')],
    'letters beyond ASCII': [trailed('x: \xfc'), without('x')],
    announced: [
      chunked('0\r\nx: y\r\n\r\n', 'trailer: x'),
      keeps('', { fields: { x: null, trailer: 'x' } }),
    ],
    'announced, and not sent': [chunked('0\r\n\r\n', 'trailer: x'), keeps('')],
    'beside one of the same name': [
      chunked('0\r\nx: trailer\r\n\r\n', 'x: head'),
      keeps('', { fields: { x: 'head' } }),
    ],
    'a hundred': [trailed(...Array.from({ length: 100 }, (_, at) => `x-${at}: y`)), without('x-1')],
  }),
  ...section('RFC 9110 6.5.1, fields that change nothing there', {
    'a length': [trailed('content-length: 99'), without('content-length')],
    'a coding': [
      trailed('transfer-encoding: gzip'),
      keeps('hello', { fields: { 'transfer-encoding': 'chunked' } }),
    ],
    'another type': [trailed('content-type: text/html'), without('content-type')],
    'another coding of the content': [
      trailed('content-encoding: gzip'),
      without('content-encoding'),
    ],
    'a host': [trailed('host: elsewhere.example'), without('host')],
    'a cookie': [trailed('set-cookie: a=b'), without('set-cookie')],
    'a connection that closes': [trailed('connection: close'), without('connection')],
    'a time to wait': [trailed('retry-after: 9'), without('retry-after')],
  }),
  ...section('RFC 9112 7.1.2, what is no field', {
    'no colon': [trailed('x'), rejected],
    'no name': [trailed(': y'), rejected],
    'a space before the colon': [trailed('x : y'), rejected],
    'a folded line': [trailed('x: y', ' z'), rejected],
    'a first line that is folded': [trailed(' x: y'), rejected],
    'a name with a space': [trailed('a b: y'), rejected],
    'an answer': [chunked('0\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), rejected],
    'a chunk': [chunked('0\r\n5\r\nhello\r\n0\r\n\r\n'), rejected],
    'a line that ends in LF': [chunked('0\r\nx: y\n\r\n'), rejected],
    'a line that ends in CR': [chunked('0\r\nx: y\rz: -\r\n\r\n'), rejected],
    'a line without an end, of 5,000 bytes': [chunked(`0\r\nx: ${'y'.repeat(5000)}`), rejected],
    'more than 16 KB': [trailed(...Array.from({ length: 3000 }, () => 'x: y')), rejected],
  }),
  ...section(
    'RFC 9110 5.5, control characters in a trailer',
    each(controlsBut('\t\r\n'), (control) => trailed(`x: a${control}b`), rejected),
  ),
  ...section('RFC 9112 6.3, bytes behind the trailers', {
    'another answer': [
      `${trailed('x: y')}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`,
      closes('hello'),
    ],
    'more trailers': [`${trailed('x: y')}z: -\r\n\r\n`, closes('hello')],
  }),
]
