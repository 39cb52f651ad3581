import type { Difference } from './difference'

const looseReasons = 'RFC 9112 4, control characters in the reason'
const doubtful = 'RFC 9112 6.1 and 7.1, codings that could be read in two ways'
const lines = 'RFC 9112 6.1, several lines of codings'
const unasked = 'RFC 9112 6.1, codings that were not asked for'
const noBody = 'RFC 9112 6.3, answers that have no body'
const extensions = 'RFC 9112 7.1.1, extensions'
const options = 'RFC 9112 9.3 and 9.6, HTTP/1.1'
const before = 'RFC 9110 15.2, answers before the answer'

/** Answers that Node accepts, or after which it reuses the connection, while Tollgate's client does not. */
export const looserInNode: readonly Difference[] = [
  {
    node: 'accepted',
    reason: 'RFC 9112 4 has no control characters in a reason; nothing good sends them.',
    cases: { [looseReasons]: 'all' },
  },
  {
    node: 'accepted',
    reason: 'Status codes are from 100 to 999, and versions of this protocol 1.0 and 1.1.',
    cases: {
      'RFC 9110 15, what is no status code': ['"099"', '"000"'],
      'RFC 9112 2.3, versions': ['"0.9"', '"2.0"'],
    },
  },
  {
    node: 'accepted',
    reason:
      'RFC 9112 2.2 lets servers skip empty lines before a request; clients have no such rule.',
    cases: {
      'RFC 9112 2.2, bytes before the status line': [
        '"\\r\\n"',
        '"\\n"',
        '"\\r"',
        '"\\r\\n\\r\\n"',
      ],
    },
  },
  {
    node: 'accepted',
    reason: 'No request has TE: a coding beneath the chunks would reach the reader as it is.',
    cases: {
      [unasked]: [
        '"gzip, chunked"',
        '"deflate, chunked"',
        '"identity, chunked"',
        '"unknown, chunked"',
        '"gzip, deflate, chunked"',
      ],
      [lines]: ['another before chunks'],
    },
  },
  {
    node: 'accepted',
    reason: 'RFC 9112 7.1: chunks are applied once, and a list has no empty parts.',
    cases: {
      [doubtful]: ['"chunked, chunked"', '"chunked,chunked"', '",chunked"'],
      [lines]: ['chunks twice'],
    },
  },
  {
    node: 'accepted',
    reason: 'A list has no empty parts.',
    cases: { [lines]: ['an empty one'] },
    until: 22,
  },
  {
    node: 'accepted',
    reason:
      'Bounds that Node has not, or has elsewhere: digits, extensions, trailers, interim answers, heads.',
    cases: {
      'RFC 9112 7.1, what is no size': ['"0000000000005"'],
      [extensions]: ['of 5,000 bytes'],
      'RFC 9112 7.1.2, what is no field': ['more than 16 KB'],
      [before]: ['nine'],
      'RFC 9112 2.2 and RFC 9110 5.4, how long a head may be': ['a byte more'],
    },
  },
  {
    node: 'accepted',
    reason: '101 answers a request that asked for another protocol, which none does.',
    cases: {
      'RFC 9110 7.8 and 15.2.2, another protocol that was not asked for': [
        '101 alone',
        '101 behind 100',
      ],
    },
  },
  {
    node: 'upgraded',
    reason: '101 answers a request that asked for another protocol, which none does.',
    cases: {
      'RFC 9110 7.8 and 15.2.2, another protocol that was not asked for': ['101', '101 to HTTP/2'],
    },
  },
  {
    node: 'reused',
    reason: 'A sender that says a body is there may send it: it would be read as the next answer.',
    cases: {
      [noBody]: [
        '204 with a length',
        '204 with chunks',
        '204 with a coding that is unknown',
        '304 with the length of what was not sent',
        '304 with chunks',
      ],
      'RFC 9112 6.1, chunks in HTTP/1.0': ['the connection was to be kept'],
    },
  },
  {
    node: 'reused',
    reason: 'Unsolicited bytes cost their connection, an empty line too.',
    cases: {
      'RFC 9112 6.3, bytes behind the last chunk': ['a line break'],
      'RFC 9112 9.2, bytes behind an answer': ['a line break'],
    },
  },
  {
    node: 'reused',
    reason:
      'A connection that may change its protocol, or was to be closed, is not trusted with a request.',
    cases: {
      [options]: ['"upgrade"', '"keep-alive, Upgrade"'],
      'RFC 9112 9.3 and C.2.2, HTTP/1.0': ['keeps and closes'],
    },
  },
  {
    node: 'reused',
    reason: 'RFC 9110 5.6.3: tabs are blanks as well.',
    cases: { [options]: ['" close\\t"'] },
    until: 22,
  },
]
