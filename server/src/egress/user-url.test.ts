import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkUserUrl } from './user-url'

const rules = { ports: [443, 8443], ownHosts: ['tollgate.example', '2606:4700::5'] }
const refusalOf = (text: string) => checkUserUrl(text, rules).refusal

/** Every way in which a part of a dotted address, or all of it, has been written for a parser. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (part: number) => `0x${part.toString(16)}`
  const octal = (part: number) => `0${part.toString(8)}`
  return [
    ...[address, `${address}.`, `${whole}`, hex(whole), octal(whole), `${hex(whole)}.`],
    ...[[a, b, c, d].map(hex).join('.'), [a, b, c, d].map(octal).join('.')],
    ...[`${hex(a)}.${b}.${octal(c)}.${d}`, `${a}.${b * 65_536 + c * 256 + d}`],
    ...[
      `${a}.${b}.${c * 256 + d}`,
      `${a}.${hex(b * 65_536 + c * 256 + d)}`,
      `000${octal(a)}.${b}.${c}.${d}`,
    ],
    ...[
      `0X${whole.toString(16).toUpperCase()}`,
      `%${a.toString().charCodeAt(0).toString(16)}${address.slice(1)}`,
    ],
    ...[
      address.replaceAll('.', '。'),
      `[::ffff:${address}]`,
      `[::${address}]`,
      `[64:ff9b::${address}]`,
    ],
    `[::ffff:${(whole >>> 16).toString(16)}:${(whole & 0xffff).toString(16)}]`,
    `[2002:${(whole >>> 16).toString(16)}:${(whole & 0xffff).toString(16)}::1]`,
    `${whole + 4_294_967_296}`,
  ]
}

const https = (hosts: readonly string[]) => hosts.map((host) => `https://${host}/v1`)
const spelled = (addresses: readonly string[]) => https(addresses.flatMap(spellings))

const hostile: Record<string, readonly string[]> = {
  'X01: this machine': [
    ...spelled(['127.0.0.1', '0.0.0.0', '127.255.255.254']),
    ...https([
      'localhost',
      'LOCALHOST',
      'localhost.',
      'foo.localhost',
      'localhost.localdomain',
      '0',
    ]),
    ...https(['127.1', '127.0.1', '0x7f.1', '00', '0x0', '0x', '127.0.0.1.', 'ip6-localhost', '@']),
  ],
  'X02: metadata': [
    ...spelled(['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16']),
    ...https([
      '[fd00:ec2::254]',
      '[fd20:ce::254]',
      '[fe80::a9fe:a9fe]',
      'metadata',
      'instance-data',
    ]),
    ...https([
      'metadata.google.internal',
      'METADATA.google.internal.',
      'instance-data.ec2.internal',
    ]),
  ],
  'X03: IPv6': https([
    ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::ffff:7f00:1]', '[::127.0.0.1]'],
    ...['[::ffff:0:7f00:1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[2001::1]', '[2001:db8::1]'],
    ...['[fe80::1]', '[fe80::1%eth0]', '[fe80::1%25eth0]', '[2606:4700::1111%25eth0]', '[fc00::1]'],
    ...[
      '[fd12:3456::1]',
      '[ff02::1]',
      '[fec0::1]',
      '[100::1]',
      '[3fff::1]',
      '[5f00::1]',
      '[4000::1]',
    ],
    ...[
      '[2001:20::1]',
      '[2001:2::1]',
      '[::ffff:10.0.0.1]',
      '[v1.fe80::a]',
      '[]',
      '[1]',
      '[::1',
      '::1]',
    ],
    ...[
      '::1',
      '[::1].one.example',
      '[2606:4700:0:0:0:0:0:1111]',
      '[2606:4700::1111]x',
      '[0::0::1]',
    ],
    '[2a00:1450::5efe:a00:1]',
  ]),
  'X04: private networks': spelled([
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '198.18.0.1', '224.0.0.1'],
    ...['255.255.255.255', '203.0.113.7'],
  ]),
  'X07: schemes': [
    ...[
      'http',
      'ftp',
      'file',
      'ws',
      'wss',
      'gopher',
      'dict',
      'unix',
      'blob',
      'jar',
      'httpss',
      'htt',
    ],
  ]
    .map((scheme) => `${scheme}://one.example/v1`)
    .concat([
      ...[
        'data:text/plain,hi',
        'javascript:alert(1)',
        'unix:/var/run/docker.sock',
        'file:///etc/hosts',
      ],
      ...[
        '//one.example',
        'https:one.example',
        'https:/one.example',
        'https:///one.example',
        'https:',
      ],
      ...[
        'https://',
        'https:///',
        '/v1',
        'one.example',
        'one.example:443',
        '',
        ' ',
        'https',
        '?',
        '#',
      ],
      ...[
        'https:\\\\one.example',
        'https:/\\one.example',
        'https://one.example\\v1',
        'https:\\one.example',
      ],
      ...[
        'https://https://one.example',
        'https://http://one.example',
        'view-source:https://one.example',
      ],
    ]),
  'X08: user info and other ends of a host': [
    ...[
      'me@one.example',
      'me:secret@one.example',
      '@one.example',
      ':@one.example',
      'one.example@10.0.0.1',
    ],
    ...[
      'one.example#@10.0.0.1',
      'one.example?@10.0.0.1',
      'one.example\\@10.0.0.1',
      '10.0.0.1#.one.example',
    ],
    ...[
      '10.0.0.1?.one.example',
      '10.0.0.1;.one.example',
      '10.0.0.1%2f.one.example',
      '10.0.0.1%23.one.example',
    ],
    ...[
      'one.example%40',
      'one%2eexample',
      'one.example%00',
      '%6fne.example',
      'one.example%0d%0aHost:x',
    ],
    ...[
      'one.\texample',
      'one.\nexample',
      'one.\r\nexample',
      'one .example',
      'one.example\u0000',
      '\u00a0one.example',
    ],
    ...[
      'one.exa\u00admple',
      'one.exam\u200bple',
      'one.example\u2024com',
      'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
      '①②⑦.⓪.⓪.①',
      'one。example',
    ],
    ...[
      'оne.example',
      'ｏｎｅ.example',
      'one.example\u2044v1',
      'one.example\uff0fv1',
      'one.exampl\u0435',
      '１２７.０.０.１',
    ],
    ...[
      'xn--.example',
      'xn--a.example',
      'xn--0.example',
      'one.xn--',
      'lo\u017fthost.example',
      '\u212aey.example',
    ],
    ...[
      'one.example,two.example',
      'one.example two.example',
      'one.example|',
      '{one.example}',
      '<one.example>',
    ],
    ...[
      'one.example^',
      '`one.example`',
      '"one.example"',
      "one.example'",
      'one.example*',
      '*.example',
      '$HOST.example',
    ],
    ...[
      '$' + '{jndi:x}.example',
      'one..example',
      '.one.example',
      'one.example..',
      '-one.example',
      'one-.example',
    ],
    ...[
      'one_two.example',
      `${'a'.repeat(64)}.example`,
      `${'a.'.repeat(130)}example`,
      'one.123',
      'one.0x1',
      'one.1e3',
    ],
  ].map((host) => `https://${host}/v1`),
  'X08: what follows the host': [
    ...[
      '/v1?x=1',
      '/v1#x',
      '?',
      '#',
      '/..',
      '/v1/../admin',
      '/./v1',
      '/%2e%2e/x',
      '/v1%2f..',
      '/v1%00',
      '/v1%0d%0ax: y',
    ],
    ...[
      '/v1 ',
      '/v1\n',
      '/v1\r\nHost: x',
      '/v1\tx',
      '/v1/ü',
      '/v1\\..',
      '/v1;x',
      '/"',
      '/<x>',
      '/{x}',
      '\\v1',
      '/v1|',
    ],
  ].map((rest) => `https://one.example${rest}`),
  'X08: around it': [
    ...[
      ' https://one.example',
      'https://one.example ',
      '\nhttps://one.example',
      '\thttps://one.example',
    ],
    ...[
      'ht\ntps://one.example',
      'https:\t//one.example',
      '\u0000https://one.example',
      '\ufeffhttps://one.example',
    ],
    ...['"https://one.example"', '<https://one.example>', 'URL:https://one.example'],
    `https://one.example/${'a'.repeat(1000)}`,
  ],
  'X09: ports': [
    ...[
      '22',
      '25',
      '53',
      '80',
      '5432',
      '6379',
      '8080',
      '9200',
      '11434',
      '2375',
      '0',
      '1',
      '444',
      '65535',
      '65536',
    ],
    ...[
      '65979',
      '4294967739',
      '0443',
      '00443',
      '+443',
      '-443',
      '443.',
      '4 43',
      '443a',
      '0x1bb',
      '٤٤٣',
      '443:443',
      '',
      ' ',
    ],
  ].map((port) => `https://one.example:${port}/v1`),
  'X10: this service': https([
    'tollgate.example',
    'Tollgate.Example',
    'tollgate.example:8443',
    '[2606:4700::5]',
  ]),
  'names of private networks': https([
    ...[
      'printer.local',
      'db.internal',
      'db.Internal',
      'wiki.corp',
      'nas.lan',
      'nas.home',
      'router.home.arpa',
      'a.intranet',
    ],
    ...[
      'x.private',
      'x.mail',
      'x.test',
      'x.invalid',
      'x.onion',
      'x.alt',
      '1.0.0.127.in-addr.arpa',
      'a.b.svc.cluster.local',
    ],
    ...[
      'kubernetes.default.svc',
      'a.svc.cluster',
      'web.service.consul',
      'gateway.docker',
      'host.docker.internal',
      'postgres',
    ],
  ]),
}

describe.each(Object.entries(hostile))('%s', (_row, urls) => {
  test.each(urls.map((url) => [JSON.stringify(url), url]))('%s is refused', (_shown, url = '') => {
    expect(refusalOf(url)).toBeString()
  })
})

test('those are hundreds', () => {
  const distinct = new Set(Object.values(hostile).flat())
  expect(distinct.size).toBeGreaterThanOrEqual(500)
})

test('a refusal is one line and repeats nothing of the address', () => {
  for (const url of Object.values(hostile).flat()) {
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

test('what is kept is judged the same when it is read again', () => {
  const host = fc.domain()
  const property = fc.property(host, fc.webPath(), (name, path) => {
    const { href } = checkUserUrl(`https://${name}${path}`, rules)
    if (href !== undefined) expect(checkUserUrl(href, rules)).toEqual({ href })
  })
  fc.assert(property, { numRuns: 2000 })
})

test('whatever passes leads where a reader without a parser would look for it', () => {
  const signs = fc.constantFrom(
    ...[
      '/',
      '\\',
      '@',
      ':',
      '.',
      '..',
      '#',
      '?',
      '%',
      '[',
      ']',
      '\t',
      '\n',
      ' ',
      '。',
      '１',
      'ａ',
      '-',
    ],
    ...[
      '127.0.0.1',
      'localhost',
      'one',
      'example',
      'com',
      '443',
      '0x7f',
      '::1',
      '%2f',
      '%00',
      '\u00ad',
    ],
  )
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
  fc.assert(property, { numRuns: 20_000 })
})
