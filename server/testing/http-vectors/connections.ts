import {
  closes,
  each,
  endsWithClose,
  head,
  incomplete,
  keeps,
  ok,
  okWith,
  rejected,
  reset,
  section,
} from './vector'

const old = (...fields: string[]) => `${head('HTTP/1.0 200 OK', ...fields, 'content-length: 2')}ok`
const good = okWith()
const interim = (status: string, ...fields: string[]) => head(`HTTP/1.1 ${status}`, ...fields)
const poison = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison'

/** A head of the given size with one long value, its empty line included. */
const headOf = (bytes: number) => {
  const rest = ok('x: ', 'content-length: 2').length
  return ok(`x: ${'y'.repeat(bytes - rest)}`, 'content-length: 2')
}
const maxHead = 64 * 1024

export const connections = [
  ...section('RFC 9112 9.3 and 9.6, HTTP/1.1', {
    'says nothing': [okWith(), keeps('ok')],
    keeps: [okWith('connection: keep-alive'), keeps('ok')],
    'names another option': [okWith('connection: x'), keeps('ok')],
    'names fields of the hop': [okWith('connection: x, keep-alive', 'x: y'), keeps('ok')],
    'says nothing in the field': [okWith('connection:'), keeps('ok')],
    'says so by another field': [okWith('proxy-connection: close'), keeps('ok')],
    'offers another protocol': [okWith('upgrade: h2c'), keeps('ok')],
    ...each(
      [
        'close',
        'Close',
        'CLOSE',
        'close, x',
        'x, close',
        'x,close',
        'keep-alive, close',
        'close, keep-alive',
        ' close\t',
        'close,',
        ',close',
        'upgrade',
        'keep-alive, Upgrade',
      ],
      (value) => okWith(`connection: ${value}`),
      closes('ok'),
    ),
    'closes in a second line': [
      okWith('connection: keep-alive', 'connection: close'),
      closes('ok'),
    ],
    'closes, in chunks': [
      `${ok('connection: close', 'transfer-encoding: chunked')}2\r\nok\r\n0\r\n\r\n`,
      closes('ok'),
    ],
  }),
  ...section('RFC 9112 9.3 and C.2.2, HTTP/1.0', {
    'says nothing': [old(), closes('ok')],
    closes: [old('connection: close'), closes('ok')],
    'keeps and closes': [old('connection: keep-alive, close'), closes('ok')],
    'names an option that only ends alike': [old('connection: x-keep-alive'), closes('ok')],
    'names an option that only begins alike': [old('connection: keep-alive-x'), closes('ok')],
    'names a time, but does not keep': [old('keep-alive: timeout=5'), closes('ok')],
    ...each(
      ['keep-alive', 'Keep-Alive', 'KEEP-ALIVE', 'x, keep-alive', 'keep-alive, x', '\tkeep-alive '],
      (value) => old(`connection: ${value}`),
      keeps('ok'),
    ),
    'keeps, without a length': [
      `${head('HTTP/1.0 200 OK', 'connection: keep-alive')}all`,
      endsWithClose('all'),
    ],
  }),
  ...section('RFC 9112 C.2.2, how long a connection is kept', {
    'long enough': [okWith('keep-alive: timeout=5'), keeps('ok')],
    'with a number of requests': [okWith('keep-alive: timeout=5, max=100'), keeps('ok')],
    'a number of requests alone': [okWith('keep-alive: max=100'), keeps('ok')],
    nonsense: [okWith('keep-alive: x'), keeps('ok')],
    'no time': [okWith('keep-alive: timeout=0'), closes('ok')],
    'less than a request takes': [okWith('keep-alive: timeout=1'), closes('ok')],
  }),
  ...section('RFC 9110 15.2, answers before the answer', {
    '100': [`${interim('100 Continue')}${good}`, keeps('ok')],
    '100 without a reason': [`${interim('100')}${good}`, keeps('ok')],
    '102': [`${interim('102 Processing')}${good}`, keeps('ok')],
    '103 with fields, which are not those of the answer': [
      `${interim('103 Early Hints', 'link: </a.css>; rel=preload', 'x: y')}${good}`,
      keeps('ok', { fields: { link: null, x: null } }),
    ],
    '199': [`${interim('199 x')}${good}`, keeps('ok')],
    eight: [`${interim('100 Continue').repeat(8)}${good}`, keeps('ok')],
    nine: [`${interim('100 Continue').repeat(9)}${good}`, rejected],
    'before an answer of HTTP/1.0': [`${interim('100 Continue')}${old()}`, closes('ok')],
    'with a length of zero': [
      `${interim('100 Continue', 'content-length: 0')}${good}`,
      keeps('ok'),
    ],
    'with a length, which is not counted': [
      `${interim('103 x', 'content-length: 99')}${good}`,
      keeps('ok'),
    ],
    'with chunks, which are not there': [
      `${interim('103 x', 'transfer-encoding: chunked')}${good}`,
      keeps('ok'),
    ],
    'with a body': [`${interim('100 Continue', 'content-length: 2')}ok${good}`, rejected],
    'that are malformed': [`${interim('100 Continue', 'x : y')}${good}`, rejected],
    'with lines that end without CR': [`HTTP/1.1 100 Continue\nx: y\r\n\r\n${good}`, keeps('ok')],
    'and nothing behind them': [interim('100 Continue'), incomplete],
    'and half a head behind them': [`${interim('100 Continue')}HTTP/1.1 200 OK\r\nx`, incomplete],
    'behind the answer': [`${good}${interim('100 Continue')}`, closes('ok')],
  }),
  ...section('RFC 9110 7.8 and 15.2.2, another protocol that was not asked for', {
    '101': [
      interim('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket'),
      rejected,
    ],
    '101 to HTTP/2': [interim('101 x', 'connection: upgrade', 'upgrade: h2c'), rejected],
    '101 alone': [interim('101 Switching Protocols'), rejected],
    '101 behind 100': [`${interim('100 x')}${interim('101 x')}`, rejected],
    '426': [
      `${interim('426 x', 'upgrade: TLS/1.3', 'content-length: 2')}ok`,
      keeps('ok', { status: 426 }),
    ],
  }),
  ...section('RFC 9112 6.3 and 8, answers that end with their connection', {
    'a body': [`${ok()}all of it`, endsWithClose('all of it')],
    'no body': [ok(), endsWithClose('')],
    'that says so': [`${ok('connection: close')}all`, endsWithClose('all')],
    'a head of one line': ['HTTP/1.1 200 OK\r\n\r\nall', endsWithClose('all')],
    'an error': [`${head('HTTP/1.1 503 x')}busy`, endsWithClose('busy', { status: 503 })],
    'one that looks like two': [`${ok()}a\r\n\r\n${good}`, endsWithClose(`a\r\n\r\n${good}`)],
    'a connection that was reset': [`${ok()}part`, reset],
  }),
  ...section('RFC 9112 8, answers that do not come to their end', {
    nothing: ['', incomplete],
    'half the name of the protocol': ['HTT', incomplete],
    'half a status line': ['HTTP/1.1 20', incomplete],
    'a status line': ['HTTP/1.1 200 OK\r\n', incomplete],
    'half a field': ['HTTP/1.1 200 OK\r\nconte', incomplete],
    'no empty line': ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n', incomplete],
    'half an empty line': ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r', incomplete],
    'half a body': [`${ok('content-length: 4')}ok`, incomplete],
    'a head, and a reset': [ok('content-length: 2'), reset],
    'half a body, and a reset': [`${ok('content-length: 4')}ok`, reset],
    'a reset': ['', reset],
  }),
  ...section('RFC 9112 9.2, bytes behind an answer', {
    'another answer': [`${good}${poison}`, closes('ok')],
    'two more': [`${good}${poison}${poison}`, closes('ok')],
    'one byte': [`${good}x`, closes('ok')],
    'a line break': [`${good}\r\n`, closes('ok')],
    'a NUL': [`${good}\0`, closes('ok')],
    'behind a body of none': [`${ok('content-length: 0')}${poison}`, closes('')],
    'behind 304': [`${interim('304 x')}${poison}`, closes('', { status: 304 })],
    'behind an error': [
      `${interim('500 x', 'content-length: 2')}no${poison}`,
      closes('no', { status: 500 }),
    ],
  }),
  ...section('RFC 9112 2.2 and RFC 9110 5.4, how long a head may be', {
    'the longest that is taken': [`${headOf(maxHead)}ok`, keeps('ok')],
    'a byte more': [`${headOf(maxHead + 1)}ok`, rejected],
    'twice as much': [`${headOf(2 * maxHead)}ok`, rejected],
    'a value without an end': [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(maxHead)}`, rejected],
    'a reason without an end': [`HTTP/1.1 200 ${'y'.repeat(maxHead)}`, rejected],
    'fields without an end': [`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(maxHead / 6)}`, rejected],
    'a thousand fields': [
      okWith(...Array.from({ length: 1000 }, (_, at) => `x-${at}: y`)),
      keeps('ok'),
    ],
    'a long one behind a long interim one': [
      `${interim('103 x', `x: ${'y'.repeat(60_000)}`)}${headOf(60_000)}ok`,
      keeps('ok'),
    ],
  }),
]
