import { createServer } from 'node:net'

/** Building blocks of an isolated network namespace. */

export const publicAddresses = ['93.184.215.14', '2606:4700:1::1']
/** At least one address of every non-public network. */
export const closedAddresses = [
  ...'10.1.2.3 172.16.5.5 172.31.255.254 192.168.1.1 100.64.0.7 100.100.100.200'.split(' '),
  ...'169.254.169.254 169.254.170.2 192.0.0.192 192.0.2.8 192.88.99.1 198.18.0.9'.split(' '),
  ...'198.51.100.4 203.0.113.9 168.63.129.16 127.0.0.1 127.8.8.8 192.175.48.1'.split(' '),
  ...'fd00:ec2::254 fc00::5 fec0::1 64:ff9b::a01:203 64:ff9b:1::1 2002:a01:203::1'.split(' '),
  ...'2001:0:a01:203::1 2001:db8::5 2001:2::1 2001:20::1 3fff::1 5f00::1 100::1'.split(' '),
  ...'::1 2a00:1450::5efe:a01:203 3ffe::1 4000::1'.split(' '),
]

export function ip(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['ip', ...words])
  if (exitCode !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr.toString()}`)
}

/** Adds all these addresses to loopback. */
export function takeAddresses(): void {
  ip('link', 'set', 'lo', 'up')
  for (const address of [...publicAddresses, ...closedAddresses]) {
    if (/^127|^::1/.test(address)) continue
    const isIPv6 = address.includes(':')
    const range = `${address}/${isIPv6 ? '128' : '32'}`
    // Usable at once: not only after the kernel has looked for duplicates.
    ip('address', 'add', range, 'dev', 'lo', ...(isIPv6 ? ['nodad'] : []))
  }
}

/** Listens at all non-public addresses, and collects those that were connected to. */
export async function recordClosedConnections(): Promise<string[]> {
  const trespassed: string[] = []
  for (const host of closedAddresses) {
    const listener = createServer((socket) => {
      trespassed.push(host)
      socket.destroy()
    })
    await new Promise<void>((resolve) => listener.listen(443, host, resolve))
  }
  return trespassed
}
