import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The records of a name: addresses, a canonical name before them, or a way to fail. */
export interface Zone {
  addresses?: readonly string[]
  cname?: string
  /** 2 is a failure of the server, 3 a name that does not exist. */
  failure?: 2 | 3
  /** The delay of the answer; `Infinity`: no answer. */
  delayMs?: number
}

interface NameServer {
  /** The server's address in the form that the resolver takes. */
  address: string
  /** The received queries, as `name type`. */
  queries: string[]
  close: () => void
}

const types = new Map([
  [1, 'A'],
  [28, 'AAAA'],
])
/** Below the maximum of a datagram on loopback: longer answers are truncated. */
const maxBytes = 60_000

/** Starts a name server on loopback that answers as `zoneOf` returns at that moment, with a TTL of 0. */
export async function startNameServer(
  zoneOf: (name: string) => Zone | undefined,
): Promise<NameServer> {
  const queries: string[] = []
  const late = new Set<ReturnType<typeof setTimeout>>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    queries.push(`${name} ${types.get(type) ?? type}`)
    const zone = zoneOf(name) ?? { failure: 3 as const }
    const send = () =>
      socket.send(answerTo(query, { zone, type, end }), port, address, () => undefined)
    if (zone.delayMs === undefined) send()
    else if (zone.delayMs < Infinity) late.add(setTimeout(send, zone.delayMs))
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    close: () => {
      for (const timer of late) clearTimeout(timer)
      socket.close()
    },
  }
}

function questionOf(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

interface Answer {
  zone: Zone
  type: number
  /** The offset at which the question ends. */
  end: number
}

function answerTo(query: Buffer, { zone, type, end }: Answer): Buffer {
  const records = zone.failure ? [] : recordsOf(zone, type)
  const body = Buffer.concat(records)
  const isCut = body.length > maxBytes
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (isCut ? 0x200 : 0) | (zone.failure ?? 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(isCut ? 0 : records.length, 6)
  return Buffer.concat([head, query.subarray(12, end), isCut ? Buffer.alloc(0) : body])
}

/** The question's own name, as a pointer to it. */
const sameName = Buffer.from([0xc0, 12])

function recordsOf({ cname, addresses = [] }: Zone, type: number): Buffer[] {
  const owner = cname === undefined ? sameName : wireName(cname)
  const family = type === 28 ? 6 : 4
  return [
    ...(cname === undefined ? [] : [record(sameName, 5, owner)]),
    ...addresses
      .filter((address) => isIP(address) === family)
      .map((address) => record(owner, type, Buffer.from(ipaddr.parse(address).toByteArray()))),
  ]
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10)
  fields.writeUInt16BE(type, 0)
  fields.writeUInt16BE(1, 2)
  fields.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fields, data])
}

const wireName = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.from([0]),
  ])
