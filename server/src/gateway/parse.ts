import type { z } from 'zod'
import type { Endpoint } from './endpoint'
import { createFitCheck, type Fits } from './fit-check'
import type { GatewayPorts } from './ports'
import type { InboundRequest } from './request'
import type { PromptSize } from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Translation } from '../protocols/dialect'
import { check, type JsonObject, type ReadBody } from '../wire/json-body'

/** The parsed content of a body. */
export interface ParsedRequest<Params> extends ReadBody {
  params: Params
  size: PromptSize
  fits: Fits
  /** Its estimated need of tokens; computed once. */
  need: () => TokenNeed
  translation: Translation | undefined
}

/**
 * Expands a request with the history that it continues, which counts like a part of its body: a short request may
 * continue a very long history. Rejects with `invalid_request`, and with `gateway_unavailable` where there is no
 * room.
 */
export async function withHistory(
  call: Pick<InboundRequest, 'history' | 'readMore'>,
  userId: string,
  read: ReadBody,
): Promise<ReadBody> {
  const { history } = call
  if (!history) return read
  const bytes = await history.unreadBytes(userId, read.body)
  if (bytes === 0 || !call.readMore) return history.expand(userId, read)
  return call.readMore(bytes, async (pause) => history.expand(userId, read, pause))
}

/** Parses and checks a body. Throws `invalid_request`. */
export function parseRequest<Schema extends z.ZodType<{ model: string }>>(
  endpoint: Endpoint<Schema>,
  read: ReadBody,
  ports: GatewayPorts,
): ParsedRequest<z.output<Schema>> {
  const translation = endpoint.translate?.(read.body)
  const { body, bytes } = translation ? measure(translation.chat, read) : read
  const params = check(endpoint.schema, body)
  const size = { ...endpoint.size(params, body), lowersOutput: translation?.lowersOutput }
  const fits = createFitCheck(size, bytes, ports)
  let known: TokenNeed | undefined
  const need = () => (known ??= endpoint.need(params, bytes))
  return { body, bytes, params, size, fits, need, translation }
}

/** Measures a request of ours that was made from another. Fields that we have no word for may still be passed through. */
const measure = (body: JsonObject, { bytes }: ReadBody): ReadBody => ({
  body,
  bytes: Math.max(bytes, Buffer.byteLength(JSON.stringify(body))),
})
