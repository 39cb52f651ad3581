import { closes, each, endsWithClose, head, keeps, ok, rejected, section } from './vector'

const body = '2\r\nok\r\n0\r\n\r\n'
const coded = (value: string) => `${ok(`transfer-encoding: ${value}`)}${body}`
const lines = (...fields: string[]) => `${ok(...fields)}${body}`

export const codings = [
  ...section('RFC 9112 7.1, the coding that ends by itself', {
    chunked: [coded('chunked'), keeps('ok')],
    'with a capital': [coded('Chunked'), keeps('ok')],
    'in capitals': [coded('CHUNKED'), keeps('ok')],
    'its field in capitals': [lines('TRANSFER-ENCODING: chunked'), keeps('ok')],
    'without a blank': [lines('transfer-encoding:chunked'), keeps('ok')],
    'with blanks around it': [coded('  chunked\t '), keeps('ok')],
  }),
  ...section(
    'RFC 9112 6.1, codings that were not asked for',
    each(
      [
        'identity',
        'gzip',
        'x-gzip',
        'deflate',
        'compress',
        'br',
        'zstd',
        'trailers',
        'unknown',
        'gzip, chunked',
        'deflate, chunked',
        'identity, chunked',
        'unknown, chunked',
        'gzip, deflate, chunked',
      ],
      coded,
      rejected,
    ),
  ),
  ...section(
    'RFC 9112 6.1 and 7.1, codings that could be read in two ways',
    each(
      [
        '',
        ' ',
        'chunked, chunked',
        'chunked,chunked',
        'chunked, gzip',
        'chunked, identity',
        'chunked,',
        ',chunked',
        ',',
        'chunked;',
        'chunked;q=1',
        'chunked; foo=bar',
        '"chunked"',
        "'chunked'",
        'chunked chunked',
        'ch unked',
        'xchunked',
        'chunkedx',
        'chunk',
        'chunke',
        'chunked\xa0',
        '\xa0chunked',
        'chun\xe2\x84\xaaed',
        'chunked\x80',
        'chunked/1',
        'x=chunked',
        'chunked\v',
        '\vchunked',
        '\0chunked',
        'chunked\0',
        '\x01chunked',
        '\x7fchunked',
        'cow',
        '[chunked]',
        'chunked:',
      ],
      coded,
      rejected,
    ),
  ),
  ...section('RFC 9112 6.1, several lines of codings', {
    'chunks twice': [lines('transfer-encoding: chunked', 'transfer-encoding: chunked'), rejected],
    'another before chunks': [
      lines('transfer-encoding: gzip', 'transfer-encoding: chunked'),
      rejected,
    ],
    'another behind chunks': [
      lines('transfer-encoding: chunked', 'transfer-encoding: x'),
      rejected,
    ],
    'identity behind chunks': [
      lines('transfer-encoding: chunked', 'Transfer-Encoding: identity'),
      rejected,
    ],
    'an empty one': [lines('transfer-encoding:', 'transfer-encoding: chunked'), rejected],
  }),
  ...section('RFC 9112 6.3, a coding beside a length', {
    'the length first': [lines('content-length: 12', 'transfer-encoding: chunked'), closes('ok')],
    'the coding first': [lines('transfer-encoding: chunked', 'content-length: 12'), closes('ok')],
    'a length of zero': [lines('content-length: 0', 'transfer-encoding: chunked'), closes('ok')],
    'a shorter length': [lines('content-length: 1', 'transfer-encoding: chunked'), closes('ok')],
    'a longer length': [lines('content-length: 99', 'transfer-encoding: chunked'), closes('ok')],
    'two lengths': [
      lines('content-length: 1', 'content-length: 2', 'transfer-encoding: chunked'),
      closes('ok'),
    ],
    'a length that is none': [
      lines('content-length: x', 'transfer-encoding: chunked'),
      closes('ok'),
    ],
    'a length and a coding that is unknown': [
      `${ok('content-length: 2', 'transfer-encoding: x')}ok`,
      rejected,
    ],
    'a length and identity': [
      `${ok('content-length: 2', 'transfer-encoding: identity')}ok`,
      rejected,
    ],
  }),
  ...section('RFC 9112 6.1, chunks in HTTP/1.0', {
    'the connection closes': [
      `${head('HTTP/1.0 200 OK', 'transfer-encoding: chunked')}${body}`,
      closes('ok'),
    ],
    'the connection was to be kept': [
      `${head('HTTP/1.0 200 OK', 'connection: keep-alive', 'transfer-encoding: chunked')}${body}`,
      closes('ok'),
    ],
    'with a length': [
      `${head('HTTP/1.0 200 OK', 'content-length: 12', 'transfer-encoding: chunked')}${body}`,
      closes('ok'),
    ],
  }),
  ...section('RFC 9112 6.3, fields that only look like a coding', {
    'another name': [`${ok('x-transfer-encoding: chunked')}${body}`, endsWithClose(body)],
    'an underscore': [`${ok('transfer_encoding: chunked')}${body}`, endsWithClose(body)],
    TE: [`${ok('te: chunked')}${body}`, endsWithClose(body)],
    'a coding of the content': [
      `${ok('content-encoding: identity', 'transfer-encoding: chunked')}${body}`,
      keeps('ok'),
    ],
  }),
]
