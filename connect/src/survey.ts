import { findLocalServers } from '../../server/src/egress/local-servers'
import type { Transport } from '../../server/src/egress/transport'
import { isLoopback } from './address'
import type { Say } from './log'
import { ModelServer } from './model-server'
import type { Offer } from './offer'
import type { Environment } from './settings'

export interface SurveyPorts {
  offer: Offer
  transport: Transport
  say: Say
  environment: Environment
  /** Of the socket: a Tollgate on this machine is none of the servers. */
  address: string
}

const mostAtOnce = 50

/** Asks all servers what they have. Never rejects. */
export async function askAll({ offer, transport, say }: SurveyPorts): Promise<void> {
  await Promise.all(offer.servers.map((one) => one.ask(transport, say)))
}

/** Finds servers on this machine, keeps those that are known, and asks all of them. Never rejects. */
export async function lookAround(ports: SurveyPorts): Promise<void> {
  const { offer, environment, address, say } = ports
  const url = new URL(address)
  const ownPort = isLoopback(url) ? Number(url.port) : 0
  const found = await findLocalServers({ ownPort, environment })
  const known = new Map(offer.servers.map((one) => [one.baseUrl, one]))
  const servers = found.slice(0, mostAtOnce).map(({ baseUrl, keyVariable }) => {
    const apiKey = keyVariable && environment[keyVariable]
    return known.get(baseUrl) ?? new ModelServer({ provider: 'local', baseUrl, apiKey })
  })
  for (const { baseUrl } of offer.servers) {
    if (servers.some((one) => one.baseUrl === baseUrl)) continue
    say('warn', 'server_silent', `local at ${baseUrl} is not there any more.`)
  }
  offer.replace(servers)
  await askAll(ports)
}
