import { findLocalServers } from '@tollgate/server/upstream/http/local-servers'
import type { Transport } from '@tollgate/server/upstream/http/transport'
import { isLoopback } from './address'
import type { Log } from './log'
import { ModelServer } from './model-server'
import type { Offer } from './offer'
import type { Environment } from './settings'

export interface SurveyPorts {
  offer: Offer
  transport: Transport
  log: Log
  environment: Environment
  /** The address of the socket: a Tollgate on this machine does not count as a server. */
  address: string
  /** For how long a server may take to be discovered. */
  discoveryMs?: number
}

const maxConcurrent = 50

/** Queries the models of all servers. Never rejects. */
export async function surveyAll({ offer, transport, log }: SurveyPorts): Promise<void> {
  await Promise.all(offer.servers.map((one) => one.refreshModels(transport, log)))
}

/** Discovers servers on this machine, keeps the known ones, and queries all of them. Never rejects. */
export async function lookAround(ports: SurveyPorts): Promise<void> {
  const { offer, environment, address, discoveryMs: timeoutMs } = ports
  const url = new URL(address)
  const ownPort = isLoopback(url) ? Number(url.port) : 0
  const discovered = await findLocalServers({ ownPort, environment, timeoutMs })
  // Known servers get a longer timeout than discovery allows: only new ones have to be found.
  const knownUrls = new Set(offer.servers.map(({ baseUrl: one }) => one))
  const added = discovered.flatMap(({ baseUrl, keyVariable }) => {
    const apiKey = keyVariable && environment[keyVariable]
    return knownUrls.has(baseUrl) ? [] : [new ModelServer({ provider: 'local', baseUrl, apiKey })]
  })
  offer.replace([...offer.servers, ...added].slice(0, maxConcurrent))
  await surveyAll(ports)
}
