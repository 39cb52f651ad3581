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
  const { offer, environment, address } = ports
  const url = new URL(address)
  const ownPort = isLoopback(url) ? Number(url.port) : 0
  const found = await findLocalServers({ ownPort, environment })
  // One that is slow this time is asked with more patience: only new ones have to be found.
  const known = new Set(offer.servers.map(({ baseUrl: one }) => one))
  const added = found.flatMap(({ baseUrl, keyVariable }) => {
    const apiKey = keyVariable && environment[keyVariable]
    return known.has(baseUrl) ? [] : [new ModelServer({ provider: 'local', baseUrl, apiKey })]
  })
  offer.replace([...offer.servers, ...added].slice(0, mostAtOnce))
  await askAll(ports)
}
