import { subprotocol } from './frames'
import type { GatewayRows } from './gateway-store'
import type { AuthenticatedGateway } from './tunnel-connection'
import { hashOf, isGatewayToken } from '../auth/api-key'
import { parseBearer } from '../auth/api-key-cache'
import { ApiError } from '../errors'

/** A gateway that supports none of Tollgate's protocol versions. */
export class VersionRefused extends Error {
  override readonly name = 'VersionRefused'
  readonly supported = [subprotocol]
}

interface EntrancePorts {
  rows: Pick<GatewayRows, 'find'>
  /** Counts client addresses that fail too often. */
  failures: {
    judge: (client: string, error: ApiError) => ApiError
    assertMayLookUp: (client: string) => void
  }
}

/**
 * Returns the gateway that requests to open a socket. Rejects with 401, with 429 for a client that failed too often,
 * and with `VersionRefused`.
 */
export async function authenticateGateway(
  request: Request,
  client: string,
  ports: EntrancePorts,
): Promise<AuthenticatedGateway> {
  const gateway = await authenticate(request, client, ports)
  const offered = request.headers.get('sec-websocket-protocol') ?? ''
  if (offered.split(',').some((name) => name.trim() === subprotocol)) return gateway
  throw new VersionRefused(`This service speaks ${subprotocol}.`)
}

async function authenticate(request: Request, client: string, ports: EntrancePorts) {
  const { rows, failures } = ports
  try {
    const token = parseBearer(request.headers.get('authorization'))
    if (!isGatewayToken(token)) throw new ApiError('invalid_api_key')
    failures.assertMayLookUp(client)
    const gateway = await rows.find(hashOf(token))
    if (!gateway) throw new ApiError('invalid_api_key')
    return gateway
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 401) throw thrown
    throw failures.judge(client, thrown)
  }
}
