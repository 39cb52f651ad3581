import { failure, fine, type DoctorFinding } from './finding'
import type { Config } from '../config'
import { hostHere } from '../config/address'

const patienceMs = 2000

/** The first bytes that whoever listens there answers to a request for its health; rejects for nobody. */
async function healthAt(hostname: string, port: number): Promise<string> {
  const answer = Promise.withResolvers<string>()
  const timer = setTimeout(() => answer.resolve(''), patienceMs)
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

/** Whether a Tollgate runs at the port, nobody, or somebody else. */
export async function lookAtPort({ host, port }: Config): Promise<DoctorFinding> {
  const answer = await healthAt(hostHere(host), port).catch(() => undefined)
  if (answer === undefined) return fine('port', `${port} is free`)
  if (/^HTTP\/1\.1 200 .*\{"status":"ok"/s.test(answer)) {
    return fine('port', `a Tollgate answers at ${port}`)
  }
  return failure('port', `another program listens at ${port}`, 'End it, or set another PORT.')
}
