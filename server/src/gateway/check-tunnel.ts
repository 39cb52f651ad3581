import type { RequestAttempt } from './attempt'
import { unsupported } from '../providers/unsupported-fields'

const message =
  'model: the self-hosted gateway of this model passes on neither files nor sound. Update its tollgate connect.'

/** Throws `invalid_request` where a candidate's self-hosted gateway does not pass on images and sound. */
export function checkTunnel({
  candidate: { connection },
  request,
}: Pick<RequestAttempt<unknown>, 'candidate' | 'request'>): void {
  const { gatewayId } = connection
  if (gatewayId === null || request.ports.gateways.takesMedia(gatewayId)) return
  throw unsupported('model', message)
}
