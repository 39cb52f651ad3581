const hex = (part: number) => `0x${part.toString(16)}`
const octal = (part: number) => `0${part.toString(8)}`

/** Returns every way in which a dotted address, or a part of it, has been written for some parser. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const integer = ((a * 256 + b) * 256 + c) * 256 + d
  const halves = `${(integer >>> 16).toString(16)}:${(integer & 0xffff).toString(16)}`
  const escaped = `%${address.charCodeAt(0).toString(16)}${address.slice(1)}`
  return splitTerms(`
    ${address} ${address}. ${integer} ${hex(integer)} ${octal(integer)} ${hex(integer)}. ${integer + 2 ** 32}
    ${[a, b, c, d].map(hex).join('.')} ${[a, b, c, d].map(octal).join('.')} ${escaped}
    ${hex(a)}.${b}.${octal(c)}.${d} ${a}.${integer & 0xffffff} ${a}.${hex(integer & 0xffffff)}
    ${a}.${b}.${integer & 0xffff} 000${octal(a)}.${b}.${c}.${d} 0X${integer.toString(16).toUpperCase()}
    ${address.replaceAll('.', '。')} ${address.replaceAll('.', '．')} [::ffff:${address}]
    [::${address}] [64:ff9b::${address}] [::ffff:${halves}] [2002:${halves}::1] [2001:0:${halves}::]`)
}

const splitTerms = (text: string) => text.trim().split(/\s+/)
const hosts = (list: readonly string[]) => list.map((host) => `https://${host}/v1`)
const spelled = (addresses: string) => hosts(splitTerms(addresses).flatMap(spellings))

/** Hosts whose oddity words between spaces cannot show. */
const strangeHosts = [
  'one.\texample',
  'one.\nexample',
  'one.\r\nexample',
  'one .example',
  'one.example two.example',
  'one.example\0',
  '\u00a0one.example',
  'one.exa\u00admple',
  'one.exam\u200bple',
]

const around = [
  ' https://one.example',
  'https://one.example ',
  '\nhttps://one.example',
  '\thttps://one.example',
  'ht\ntps://one.example',
  'https:\t//one.example',
  '\0https://one.example',
  '\ufeffhttps://one.example',
  'https://one.example/v1 ',
  'https://one.example/v1\n',
  'https://one.example/v1\r\nHost: x',
  'https://one.example/v1\tx',
  'https://one.example:4 43/',
  'https://one.example: /',
  'https://one.example:',
  '',
  ' ',
  `https://one.example/${'a'.repeat(1000)}`,
]

/** Row of docs/contribute/faults.md -> addresses that only the operator may set. */
export const hostileUrls: Readonly<Record<string, readonly string[]>> = {
  'X01: this machine': [
    ...spelled('127.0.0.1 0.0.0.0 127.255.255.254'),
    ...hosts(
      splitTerms(`localhost LOCALHOST localhost. foo.localhost localhost.localdomain 0 127.1 127.0.1
        0x7f.1 00 0x0 0x ip6-localhost`),
    ),
  ],
  'X02: metadata': [
    ...spelled('169.254.169.254 100.100.100.200 192.0.0.192 168.63.129.16'),
    ...hosts(
      splitTerms(`[fd00:ec2::254] [fd20:ce::254] [fe80::a9fe:a9fe] metadata instance-data
        metadata.google.internal METADATA.google.internal. instance-data.ec2.internal`),
    ),
  ],
  'X03: IPv6': hosts(
    splitTerms(String.raw`[::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:7f00:1] [::127.0.0.1] [fc00::1]
      [::ffff:0:7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2001::1] [2001:db8::1] [fe80::1] [0::0::1]
      [fe80::1%eth0] [fe80::1%25eth0] [2606:4700::1111%25eth0] [fd12:3456::1] [ff02::1] [fec0::1] []
      [100::1] [3fff::1] [5f00::1] [4000::1] [2001:20::1] [2001:2::1] [::ffff:10.0.0.1] [v1.fe80::a]
      [1] [::1 ::1] ::1 [::1].one.example [2606:4700:0:0:0:0:0:1111] [2606:4700::1111]x
      [2a00:1450::5efe:a00:1] [2002:7f00:1::] [2001:0:53aa:64c::]`),
  ),
  'X04: private networks': spelled(
    `10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 198.18.0.1 224.0.0.1 255.255.255.255 203.0.113.7`,
  ),
  'X07: schemes': splitTerms(
    String.raw`http://one.example ftp://one.example file://one.example ws://one.example wss://one.example
      gopher://one.example dict://one.example unix://one.example blob:https://one.example
      jar:https://one.example httpss://one.example htt://one.example data:text/plain,hi
      javascript:alert(1) unix:/var/run/docker.sock file:///etc/hosts //one.example https:one.example
      https:/one.example https:///one.example https: https:// https:/// /v1 one.example ? # https
      one.example:443 https:\\one.example https:/\one.example https://one.example\v1 https:\one.example
      https://https://one.example https://http://one.example view-source:https://one.example
      "https://one.example" <https://one.example> URL:https://one.example`,
  ),
  'X08: user info and other ends of a host': hosts([
    ...strangeHosts,
    ...splitTerms(
      String.raw`me@one.example me:secret@one.example @one.example :@one.example @ one.example@10.0.0.1
        one.example#@10.0.0.1 one.example?@10.0.0.1 one.example\@10.0.0.1 10.0.0.1#.one.example
        10.0.0.1?.one.example 10.0.0.1;.one.example 10.0.0.1%2f.one.example 10.0.0.1%23.one.example
        one.example%40 one%2eexample one.example%00 %6fne.example one.example%0d%0aHost:x
        one.example,two.example one.example| {one.example} <one.example> one.example^ "one.example"
        one.example' one.example* *.example $HOST.example one..example .one.example one.example..
        -one.example one-.example one_two.example one.123 one.0x1 one.1e3 one.example.`,
    ),
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(130)}example`,
  ]),
  'X08: letters that look alike': hosts(
    splitTerms(`оne.example ｏｎｅ.example one.example⁄v1 one.example／v1 one.examplе １２７.０.０.１
      ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ①②⑦.⓪.⓪.① one。example one．example one.example․com loſthost.example Key.example
      xn--.example xn--a.example xn--0.example one.xn-- xn--one-.example ٣.example bücher.example`),
  ),
  'X08: what surrounds and follows': [
    ...around,
    ...splitTerms(String.raw`/v1?x=1 /v1#x ? # /.. /v1/../admin /./v1 /%2e%2e/x /v1%2f.. /v1%00 /v1%0d%0ax:y
      /v1/ü /v1\.. /v1;x /"x" /<x> /{x} \v1 /v1| /v1,x /v1'x`).map(
      (rest) => `https://one.example${rest}`,
    ),
  ],
  'X09: ports': hosts(
    splitTerms(`22 25 53 80 5432 6379 8080 9200 11434 2375 0 1 444 65535 65536 65979 4294967739 0443 00443
      +443 -443 443. 443a 0x1bb ٤٤٣ 443:443`).map((port) => `one.example:${port}`),
  ),
  'X10: this service': hosts(
    splitTerms('tollgate.example Tollgate.Example tollgate.example:8443 [2606:4700::5]'),
  ),
  'names of private networks': hosts(
    splitTerms(`printer.local db.internal db.Internal wiki.corp nas.lan nas.home router.home.arpa postgres
      a.intranet x.private x.mail x.test x.invalid x.onion x.alt 1.0.0.127.in-addr.arpa
      a.b.svc.cluster.local kubernetes.default.svc a.svc.cluster web.service.consul gateway.docker
      host.docker.internal`),
  ),
}
