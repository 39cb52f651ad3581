import { describe, expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { hostileUrls } from '../../../testing/http/hostile-urls'
import { checkCall, checkUserUrl } from './user-url'

const rules = { ports: [443, 8443], ownHosts: ['tollgate.example', '2606:4700::5'] }
const refusalOf = (text: string) => checkUserUrl(text, rules).refusal

describe.each(Object.entries(hostileUrls))('%s', (_row, urls) => {
  test.each(urls.map((url) => [JSON.stringify(url), url]))('%s is rejected', (_shown, url = '') => {
    expect(refusalOf(url)).toBeString()
  })
})

test('the list has hundreds of networks', () => {
  const distinct = new Set(Object.values(hostileUrls).flat())
  expect(distinct.size).toBeGreaterThanOrEqual(500)
})

test('a refusal is one line and repeats nothing of the address', () => {
  for (const url of Object.values(hostileUrls).flat()) {
    const words = refusalOf(url) ?? ''
    expect(words).toMatch(/^[A-Z][\w ,:/.]+$/)
    expect(words.replace('https://api.example.com/v1', '')).not.toMatch(/\d\.\d|example/)
  }
})

test.each([
  ['https://one.example', 'https://one.example'],
  ['https://one.example/', 'https://one.example'],
  ['https://one.example/v1/', 'https://one.example/v1'],
  ['HTTPS://API.One.Example/V1', 'https://api.one.example/V1'],
  ['https://one.example:443/v1', 'https://one.example/v1'],
  ['https://one.example:8443/v1', 'https://one.example:8443/v1'],
  ['https://xn--bcher-kva.example/v1', 'https://xn--bcher-kva.example/v1'],
  ['https://a-b.c1.one.xn--p1ai', 'https://a-b.c1.one.xn--p1ai'],
  ['https://one.example/@cf/v1beta1/x:y~z_1-2+3', 'https://one.example/@cf/v1beta1/x:y~z_1-2+3'],
  ['https://8.8.8.8/v1', 'https://8.8.8.8/v1'],
  ['https://[2606:4700::1111]/v1', 'https://[2606:4700::1111]/v1'],
])('%s may be set, and is kept as %s', (text, href) => {
  expect(checkUserUrl(text, rules)).toEqual({ href })
})

test('accepts a stored address again when it is read', () => {
  const label = fc.constantFrom('a', 'api', 'xn--p1ai', 'A-1', '-x', '1', '0x7f', 'B')
  const segment = fc.constantFrom('', 'v1', '.', '..', '@cf', 'x:y', '%2f', 'V~1', 'a b')
  const property = fc.property(fc.array(label), fc.array(segment), (labels, segments) => {
    const url = `https://${[...labels, 'example'].join('.')}/${segments.join('/')}`
    const { href } = checkUserUrl(url, rules)
    if (href !== undefined) expect(checkUserUrl(href, rules)).toEqual({ href })
  })
  fc.assert(property, { numRuns: 5000 })
})

test('an accepted address leads where a simple reader would look for it', () => {
  const shown =
    '/ \\ @ : . .. # ? % [ ] 。 １ ａ - 127.0.0.1 localhost one example com 443 0x7f ::1 %2f %00'
  const signs = fc.constantFrom(...shown.split(' '), ' ', '\t', '\n', '\u00ad')
  const text = fc
    .array(signs, { maxLength: 9 })
    .map((parts) => `https://one.example${parts.join('')}`)
  const property = fc.property(text, (url) => {
    const { href } = checkUserUrl(url, rules)
    if (href === undefined) return
    const [, , host = ''] = url.split('/')
    expect(new URL(href).host).toBe(host.toLowerCase().replace(/:443$/, ''))
    expect(host).toMatch(/^one\.example[\w.-]*(:443|:8443)?$/)
  })
  fc.assert(property, { numRuns: 10_000 })
})

test('a query and escapes behind an address do not change its target', () => {
  for (const text of Object.values(hostileUrls).flat()) {
    const { url } = checkCall(text, rules)
    if (!url) continue
    expect([refusalOf(url.origin), url.username, url.password, url.hash]).toEqual([
      undefined,
      '',
      '',
      '',
    ])
    // Read as a reader would: all before the first slash behind the scheme is the host.
    expect(text.toLowerCase().replace(':443/', '/').replace(/:443$/, '')).toStartWith(url.origin)
  }
  const called = 'https://one.example/v1/a%2Fb:c?alt=sse&version=2024-10-21'
  expect(checkCall(called, rules).url?.href).toBe(called)
})

describe('networks that operators allow', () => {
  const allowed = { ...rules, privateNetworks: () => ['10.1.0.0/16', 'fd00:1::/32'] }
  const isRefused = (text: string) => checkUserUrl(text, allowed).refusal !== undefined

  test.each(['https://10.1.2.3', 'https://[fd00:1::7]', 'https://8.8.8.8', 'https://llm.internal'])(
    '%s may be set',
    (text) => expect(isRefused(text)).toBe(false),
  )

  test.each([
    'https://10.2.0.1',
    'https://[fd00:2::7]',
    'https://[::ffff:10.1.2.3]',
    'http://10.1.2.3',
    'https://10.1.2.3:22',
    'https://internal',
    'https://tollgate.example',
  ])('%s may not', (text) => expect(isRefused(text)).toBe(true))
})
