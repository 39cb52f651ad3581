/**
 * Loaded before a gateway: a request that asks for it has its handler fail where it reads a header. Only
 * requests are meant that say so themselves, by `x-fault` and `x-fault-at`.
 */
const words = 'canary-of-the-fault at /srv/secret/path.ts:1:1'
const get = Headers.prototype.get

Object.defineProperty(Headers.prototype, 'get', {
  value: function faulty(this: Headers, name: string) {
    const kind = get.call(this, 'x-fault')
    if (kind !== null && get.call(this, 'x-fault-at') === name.toLowerCase()) throw thrown(kind)
    return get.call(this, name)
  },
})

/** What a library, or we ourselves, might throw. */
function thrown(kind: string): unknown {
  if (kind === 'text') return words
  if (kind === 'nothing') return undefined
  if (kind === 'object') return { message: words, status: 200, toString: null }
  return new TypeError(words)
}
