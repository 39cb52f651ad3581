import { failure, fine, type DoctorFinding } from './finding'
import type { Config } from '../../platform/config/config'
import { toReachableHost } from '../../platform/config/address'

/** A busy machine may stand still for seconds. */
const timeoutMs = 10_000

/** Returns the first bytes of the answer to a health request at this port; rejects if no process listens. */
async function healthAt(hostname: string, port: number): Promise<string> {
  const answer = Promise.withResolvers<string>()
  const timer = setTimeout(() => answer.resolve(''), timeoutMs)
  const request = `GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`
  const socket = await Bun.connect({
    hostname,
    port,
    socket: {
      open: (one) => void one.write(request),
      data: (_one, bytes) => answer.resolve(bytes.toString('latin1')),
      close: () => answer.resolve(''),
      error: () => answer.resolve(''),
    },
  })
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    socket.end()
  }
}

/** Checks whether a Tollgate, another program or no process listens at the port. */
export async function lookAtPort({ host, port }: Config): Promise<DoctorFinding> {
  const answer = await healthAt(toReachableHost(host), port).catch(() => undefined)
  if (answer === undefined) return fine('port', `${port} is free`)
  if (/^HTTP\/1\.1 200 .*\{"status":"ok"/s.test(answer)) {
    return fine('port', `a Tollgate answers at ${port}`)
  }
  return failure('port', `another program listens at ${port}`, 'End it, or set another PORT.')
}
