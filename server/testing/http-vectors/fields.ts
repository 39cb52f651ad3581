import { closes, controlsBut, each, keeps, ok, okWith, rejected, section } from './vector'

const has = (value: string | null) => keeps('ok', { fields: { x: value } })
const letters = "!#$%&'*+-.^_`|~0123456789ABCXYZabcxyz"
const visible = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at)).join('')

export const fields = [
  ...section('RFC 9112 5.1, blanks around a value', {
    'a space before it': [okWith('x: y'), has('y')],
    none: [okWith('x:y'), has('y')],
    'many on both sides': [okWith('x:   y   '), has('y')],
    'tabs on both sides': [okWith('x:\ty\t'), has('y')],
    'both kinds': [okWith('x: \t y \t '), has('y')],
    'within it': [okWith('x: a  b\tc'), has('a  b\tc')],
    'no value': [okWith('x:'), has('')],
    'a value of blanks': [okWith('x:  \t '), has('')],
  }),
  ...section('RFC 9110 5.5, values', {
    'all visible characters': [okWith(`x: ${visible}`), has(visible)],
    'letters beyond ASCII': [okWith('x: gr\xfc\xdfe'), has('gr\xfc\xdfe')],
    'letters of UTF-8': [okWith('x: \xe2\x82\xac'), has('\xe2\x82\xac')],
    'no-break spaces at its ends, which are letters': [okWith('x: \xa0y\xa0'), has('\xa0y\xa0')],
    'the highest byte': [okWith('x: \xff'), has('\xff')],
    colons: [okWith('x: a:b: c'), has('a:b: c')],
    'one that looks like a length': [okWith('x: content-length: 9'), has('content-length: 9')],
    'one that looks like a coding': [okWith('x: transfer-encoding: chunked'), keeps('ok')],
    'a quoted string': [okWith('x: "a, b"'), has('"a, b"')],
    'one of 8 KB': [okWith(`x: ${'y'.repeat(8192)}`), has('y'.repeat(8192))],
  }),
  ...section(
    'RFC 9110 5.5, control characters in a value',
    each(controlsBut('\t\r\n'), (control) => okWith(`x: a${control}b`), rejected),
  ),
  ...section('RFC 9110 5.1, names', {
    'all characters that a token may have': [okWith(`${letters}: y`), keeps('ok')],
    'one letter': [okWith('x: y'), has('y')],
    'in any case': [okWith('X: y'), has('y')],
    'that end like that of the length': [okWith('x-content-length: 9'), keeps('ok')],
    'that end like that of the coding': [okWith('not-transfer-encoding: chunked'), keeps('ok')],
    'that begin like that of the length': [okWith('content-length-x: 9'), keeps('ok')],
    'of 8 KB': [okWith(`${'x'.repeat(8192)}: y`), keeps('ok')],
    'an empty one': [okWith(': y'), rejected],
    'no colon': [okWith('x'), rejected],
    'no colon in the last line': [ok('content-length: 0', 'x'), rejected],
  }),
  ...section(
    'RFC 9110 5.6.2, what no name has',
    each(
      [...controlsBut('\r\n'), ...'"(),/;<=>?@[\\]{} '.split(''), '\x80', '\xa0', '\xfc', '\xff'],
      (letter) => okWith(`a${letter}b: y`),
      rejected,
    ),
  ),
  ...section('RFC 9112 5.1, blanks before the colon', {
    'a space': [okWith('x : y'), rejected],
    'a tab': [okWith('x\t: y'), rejected],
    'a space, of a length': [`${ok('content-length : 2')}ok`, rejected],
    'a space, of a coding': [`${ok('transfer-encoding : chunked')}0\r\n\r\n`, rejected],
    'a name of a space': [okWith(' : y'), rejected],
  }),
  ...section('RFC 9112 5.2, folded lines', {
    'by a space': [okWith('x: y\r\n z'), rejected],
    'by a tab': [okWith('x: y\r\n\tz'), rejected],
    'of blanks alone': [okWith('x: y\r\n  '), rejected],
    'in place of the first field': ['HTTP/1.1 200 OK\r\n x: y\r\n\r\n', rejected],
    'by a line without CR': [okWith('x: y\n z'), rejected],
    'a length that is folded': [`${ok('content-length:\r\n 2')}ok`, rejected],
    'a coding that is folded': [`${ok('transfer-encoding:\r\n chunked')}0\r\n\r\n`, rejected],
  }),
  ...section('RFC 9110 5.3, several of one name', {
    'are joined in their order': [okWith('x: a', 'y: -', 'x: b'), has('a, b')],
    'in different cases': [okWith('x: a', 'X: b'), has('a, b')],
    'empty ones': [okWith('x:', 'x:'), has(', ')],
    'a hundred': [
      okWith(...Array.from({ length: 100 }, () => 'x: y')),
      has(Array.from({ length: 100 }, () => 'y').join(', ')),
    ],
  }),
  ...section('RFC 9112 2.2, ends of lines', {
    'one field that ends without CR': [okWith('x: y\nz: -'), closes('ok', { fields: { x: 'y' } })],
    'all fields but the last': ['HTTP/1.1 200 OK\nx: y\ncontent-length: 2\r\n\r\nok', closes('ok')],
    'a length behind a bare LF': [`${ok('x: y\ncontent-length: 2')}ok`, closes('ok')],
    'a bare CR in a value': [okWith('x: a\rb'), rejected],
    'a bare CR that hides a length': [okWith('x: y\rcontent-length: 9'), rejected],
    'a bare CR in a name': [okWith('a\rb: y'), rejected],
    'a bare CR at the end of a line': ['HTTP/1.1 200 OK\r\nx: y\rz: -\r\n\r\n', rejected],
    'two CRs': [okWith('x: y\r'), rejected],
    'a CR before a colon': [okWith('x\r: y'), rejected],
    'an empty line of two LFs': [
      'HTTP/1.1 200 OK\r\nx: y\n\ncontent-length: 2\r\n\r\nok',
      rejected,
    ],
  }),
]
