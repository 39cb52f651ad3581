import type { Difference } from './difference'

const doubtful = 'RFC 9112 6.1 and 7.1, codings that could be read in two ways'
const lines = 'RFC 9112 6.1, several lines of codings'
const unasked = 'RFC 9112 6.1, codings that were not asked for'
const noBody = 'RFC 9112 6.3, answers that have no body'
const extensions = 'RFC 9112 7.1.1, extensions'
const options = 'RFC 9112 9.3 and 9.6, HTTP/1.1'
const before = 'RFC 9110 15.2, answers before the answer'

/** Answers that Node rejects or keeps waiting for, where Tollgate's client decides otherwise. */
export const stricterInNode: readonly Difference[] = [
  {
    node: 'rejected',
    reason:
      'RFC 9112 2.2 allows a line to end without CR; nothing follows such an answer on its connection.',
    cases: {
      'RFC 9112 2.2, lines without CR': ['the status line', 'a status line without a reason'],
      'RFC 9112 2.2, ends of lines': [
        'one field that ends without CR',
        'all fields but the last',
        'a length behind a bare LF',
      ],
      [before]: ['with lines that end without CR'],
    },
  },
  {
    node: 'rejected',
    reason: 'RFC 9110 5.6.3: tabs are blanks as well.',
    cases: { 'RFC 9110 8.6, lengths': ['tabs around it'] },
    until: 22,
  },
  {
    node: 'waiting',
    reason: 'RFC 9110 5.6.3: tabs are blanks as well.',
    cases: { 'RFC 9112 7.1, the coding that ends by itself': ['with blanks around it'] },
  },
  {
    node: 'rejected',
    reason: 'RFC 9110 8.6 allows the same length to be sent several times.',
    cases: {
      'RFC 9110 8.6 and RFC 9112 6.3, several lengths': [
        'the same twice',
        'the same three times',
        'the same as a list',
        'a list without blanks',
        'a list with tabs',
        'a list in two lines',
      ],
    },
  },
  {
    node: 'rejected',
    reason:
      'RFC 9112 6.3: the coding wins over the length; nothing follows such an answer on its connection.',
    cases: {
      'RFC 9112 6.3, a coding beside a length': [
        'the length first',
        'the coding first',
        'a length of zero',
        'a shorter length',
        'a longer length',
        'two lengths',
        'a length that is none',
      ],
      'RFC 9112 6.1, chunks in HTTP/1.0': ['with a length'],
    },
  },
  {
    node: 'rejected',
    reason: 'RFC 9112 6.3: what has no body ends with its head, whatever it says of a length.',
    cases: { [noBody]: ['204 with a length that is none'] },
  },
  {
    node: 'rejected',
    reason: 'The answer is whole: what comes behind it costs its connection, not the answer.',
    cases: {
      [noBody]: [
        '204 with a body',
        '204 with a length and its body',
        '204 with chunks and their body',
      ],
      'RFC 9112 6.3, bytes behind the last chunk': ['one', 'another last chunk'],
      'RFC 9112 6.3, bytes behind the trailers': ['more trailers'],
      'RFC 9112 9.2, bytes behind an answer': ['one byte', 'a NUL'],
    },
  },
  {
    node: 'rejected',
    reason: 'RFC 9112 7.1.1: extensions are ignored, blanks around them are allowed.',
    cases: {
      [extensions]: [
        'a space before it',
        'tabs before it',
        'blanks around its parts',
        'a quote that is not closed',
        'no name',
        'two semicolons',
      ],
    },
  },
  {
    node: 'rejected',
    reason: 'RFC 9110 6.5.1: such a trailer is dropped, like any other.',
    cases: { 'RFC 9110 6.5.1, fields that change nothing there': ['a length'] },
  },
  {
    node: 'waiting',
    reason:
      'Node reads on to the end of the connection, as RFC 9112 6.3 has it; no such coding was asked for.',
    cases: {
      [unasked]: [
        '"identity"',
        '"gzip"',
        '"x-gzip"',
        '"deflate"',
        '"compress"',
        '"br"',
        '"zstd"',
        '"trailers"',
        '"unknown"',
      ],
      [doubtful]: [
        '"chunked, gzip"',
        '"chunked, identity"',
        '"chunked,"',
        '","',
        '"chunked;"',
        '"chunked;q=1"',
        '"chunked; foo=bar"',
        '"\\"chunked\\""',
        '"\'chunked\'"',
        '"chunked chunked"',
        '"ch unked"',
        '"xchunked"',
        '"chunkedx"',
        '"chunk"',
        '"chunke"',
        '"chunked\xa0"',
        '"\xa0chunked"',
        '"chun\xe2\x84\xaaed"',
        '"chunked\x80"',
        '"chunked/1"',
        '"x=chunked"',
        '"cow"',
        '"[chunked]"',
        '"chunked:"',
      ],
      [lines]: ['another behind chunks', 'identity behind chunks'],
    },
  },
  {
    node: 'waiting',
    reason: 'A coding without a name is none.',
    cases: { [doubtful]: ['""', '" "'] },
    until: 22,
  },
  {
    node: 'waiting',
    reason: 'No body is so long: a length of 10^15 bytes or a chunk of 2^48 is not waited for.',
    cases: {
      'RFC 9110 8.6, what is no length': [
        '"1000000000000000"',
        '"9007199254740993"',
        '"9223372036854775808"',
        '"4294967298000000000"',
      ],
      'RFC 9112 7.1, what is no size': ['"fffffffffffff"', '"ffffffffffffffff"'],
    },
  },
  {
    node: 'waiting',
    reason: 'What cannot become an answer is not waited for.',
    cases: {
      'RFC 9112 2.1, what is no answer of HTTP/1': ['"RTSP/1.0 200 OK\\r\\n\\r\\n"'],
      'RFC 9112 7.1.2, what is no field': ['a line without an end, of 5,000 bytes'],
      'RFC 9112 2.2 and RFC 9110 5.4, how long a head may be': ['fields without an end'],
    },
  },
  {
    node: 'closed',
    reason: 'Proxy-Connection is no field of the standard; Node reads it like Connection.',
    cases: { [options]: ['says so by another field'] },
  },
]
