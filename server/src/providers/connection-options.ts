import { z } from 'zod'
import { isCertificates } from './certificates'
import { identifierFields } from './identifier-fields'

// All of these become part of a host or of a path.
const locationName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.:-]{0,62}$/i, 'must be the name of a location.')
const deployment = z.string().regex(/^\w[\w.-]{0,199}$/, 'must be the name of a deployment.')

const allowedNames = z
  .array(z.string().regex(/^[\w=.-]{1,100}$/, 'must be a name of letters, digits and _ = . -'))
  .max(100)

/** An hour: the longest that operators need wait for one answer. */
const maxTimeoutSeconds = 3600

const timeoutSeconds = z.number().min(1).max(maxTimeoutSeconds).exactOptional()

const timeoutFields = {
  /** Of a whole request without a stream. */
  request_seconds: timeoutSeconds,
  /** Of a stream: until its first byte, between two events or comments, and as a whole. */
  first_byte_seconds: timeoutSeconds,
  idle_seconds: timeoutSeconds,
  stream_seconds: timeoutSeconds,
  /** The time that an answer may need: a chat or completion that would be ended before is rejected at once. */
  needs_seconds: timeoutSeconds,
}

const ModelTimeouts = z.strictObject(timeoutFields)
export type ModelTimeouts = z.output<typeof ModelTimeouts>

/** Options of a connection beside its address and its credential; most dialects need none of them. */
export const ConnectionOptions = z.strictObject({
  /** The version of Azure's dated surfaces. */
  api_version: z
    .string()
    .regex(/^(\d{4}-\d{2}-\d{2}(-preview)?|v1|preview|latest)$/, 'must be a date, or v1.')
    .exactOptional(),
  /** Model -> the deployment that stands for it there, where they differ. */
  deployments: z.record(z.string().min(1).max(200), deployment).exactOptional(),
  /** The region of a cloud's models. */
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region.')
    .exactOptional(),
  project: locationName.exactOptional(),
  location: locationName.exactOptional(),
  /** The lifetime of breakpoints that Tollgate sets where the client set none; absent, it sets none. */
  prompt_caching: z.enum(['5m', '1h'], 'must be 5m or 1h.').exactOptional(),
  /** Names that accounts which share its credential may send beside the built-in lists. */
  allow: z
    .strictObject({
      /** Fields of requests. */
      fields: allowedNames.exactOptional(),
      /** Types of content blocks, items and tools. */
      blocks: allowedNames.exactOptional(),
      /** Values of `anthropic-beta`, `openai-beta` and `anthropic-version`. */
      betas: allowedNames.exactOptional(),
    })
    .exactOptional(),
  /** Fields of chats and completions that its server knows, beside its provider's: set for each account that shares it. */
  identifiers: z.array(z.enum(identifierFields)).exactOptional(),
  /** Whether its server gets addresses that accounts which share it name, and fetches them; absent, providers of the registry do. */
  remote_urls: z.enum(['passed', 'rejected'], 'must be passed or rejected.').exactOptional(),
  /** The authorities, as certificates in PEM, of which one signs its server's certificate, instead of the system's. */
  certificate_authorities: z
    .string()
    .max(32_768)
    .refine(isCertificates, 'must be certificates in PEM, each from BEGIN to END CERTIFICATE.')
    .exactOptional(),
  /** Timeouts in place of the installation's: for all of its models, and for some by their names at the provider. */
  timeouts: z
    .strictObject({
      ...timeoutFields,
      models: z.record(z.string().min(1).max(200), ModelTimeouts).exactOptional(),
    })
    .exactOptional(),
  /** Accounts that share it do not see what was read from, or written to, its prompt cache. */
  hide_cached_tokens: z.boolean().exactOptional(),
})
export type ConnectionOptions = z.output<typeof ConnectionOptions>
