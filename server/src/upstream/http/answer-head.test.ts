import { describe, expect, test } from 'bun:test'
import { MalformedAnswer, parseHead } from './answer-head'

const head = (...lines: string[]) => parseHead(lines.join('\r\n'))
const ok = (...fields: string[]) => head('HTTP/1.1 200 OK', ...fields)

describe('the head of an answer', () => {
  test('has a status and fields, whose names are alike in any case', () => {
    const { status, fields } = head('HTTP/1.1 503', 'Retry-After: 3', 'X-One:  a b\t', 'x-one:c')
    expect([status, fields.get('retry-after'), fields.get('x-one')]).toEqual([503, '3', 'a b, c'])
  })

  test.each([
    ['a length', ok('content-length: 12'), 'length', 12],
    ['the same length twice', ok('content-length: 5', 'content-length: 5'), 'length', 5],
    ['chunks', ok('transfer-encoding: Chunked'), 'chunked', 0],
    ['chunks and a length', ok('content-length: 5', 'transfer-encoding: chunked'), 'chunked', 0],
    ['neither', ok('x: y'), 'until-close', 0],
    ['names alone', ok('x-content-length: 5', 'x: content-length: 5'), 'until-close', 0],
    ['no body', head('HTTP/1.1 204 No Content', 'content-length: 5'), 'none', 0],
    ['not modified', head('HTTP/1.1 304 x', 'transfer-encoding: chunked'), 'none', 0],
    ['more to come', head('HTTP/1.1 100 Continue'), 'none', 0],
  ] as const)('shows by %s where the body ends', (...[, parsed, framing, length]) => {
    expect([parsed.framing, parsed.length]).toEqual([framing, length])
  })

  test.each([
    ['says nothing', ok('content-length: 0'), 30_000],
    ['closes', ok('content-length: 0', 'Connection: Close'), 0],
    ['closes among others', ok('content-length: 0', 'connection: x, close'), 0],
    ['names its time', ok('content-length: 0', 'keep-alive: timeout=5, max=100'), 4000],
    ['names a long time', ok('content-length: 0', 'keep-alive: timeout=600'), 30_000],
    ['names less than its answer needs', ok('content-length: 0', 'keep-alive: timeout=1'), 0],
    ['is of version 1.0', head('HTTP/1.0 200 OK', 'content-length: 0'), 0],
    [
      'is of version 1.0 and stays',
      head('HTTP/1.0 200 OK', 'content-length: 0', 'connection: keep-alive'),
      30_000,
    ],
    ['ends with its connection', ok(), 0],
    ['ends in two ways', ok('content-length: 5', 'transfer-encoding: chunked'), 0],
    ['has lines without CR', parseHead('HTTP/1.1 200 OK\r\na: b\nc: d\r\ncontent-length: 0'), 0],
  ] as const)(
    'from a server that %s shows how long its connection serves',
    (_name, { keepMs }, ms) => {
      expect(keepMs).toBe(ms)
    },
  )

  test.each([
    '',
    'HTTP/2 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1  200 OK',
    'http/1.1 200 OK',
    'SSH-2.0-OpenSSH',
    'HTTP/1.1 200 OK\r\nno colon',
    'HTTP/1.1 200 OK\r\nname : blank before it',
    'HTTP/1.1 200 OK\r\n: no name',
    'HTTP/1.1 200 OK\r\nx: y\r\n folded',
    'HTTP/1.1 200 OK\r\nx: a\0b',
    'HTTP/1.1 200 OK\r\nx: a\rb: c',
    'HTTP/1.1 200 OK\r\ncontent-length: -1',
    'HTTP/1.1 200 OK\r\ncontent-length: 0x10',
    'HTTP/1.1 200 OK\r\ncontent-length: ',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6',
    'HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: identity',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked',
  ])('is rejected if it is ambiguous or unreadable: %j', (text) => {
    expect(() => parseHead(text)).toThrow(MalformedAnswer)
  })
})
