import { z } from 'zod'

/** The subprotocol of `Sec-WebSocket-Protocol`. Source: docs/contribute/gateway-protocol.md. */
export const subprotocol = 'tollgate.gateway.1'

/** Bounds on the memory that one side can make the other use. Bytes, unless the name states another unit. */
export const bounds = {
  /** The maximum of a frame from a gateway. */
  frameBytes: 1024 * 1024,
  /** The maximum of a frame to a gateway, in UTF-8. */
  sentBytes: 32 * 1024 * 1024,
  /** The maximum of an answer's data in flight before more is granted, for each request. */
  windowBytes: 256 * 1024,
  /** The maximum of an answer that comes in one frame, and of a tool's result. */
  bodyBytes: 256 * 1024,
  /** The maximum of a request's content in one frame. */
  contentBytes: 48 * 1024,
  /** The maximum of concurrent requests on one gateway. */
  requests: 1000,
  models: 2000,
  tools: 200,
  providers: 50,
} as const

/** Reasons for which a socket is closed; the gateway's reaction to each is in docs/contribute/gateway-protocol.md. */
export const closeCodes = {
  shuttingDown: 1001,
  protocolError: 4400,
  revoked: 4401,
  silent: 4408,
  replaced: 4409,
} as const

const id = z.string().max(64)
const name = z.string().min(1).max(200)
const headers = z.record(z.string().max(100), z.string().max(1000)).optional()

/**
 * The feature of a gateway that serves images and sound: it takes requests whose content follows them in frames of its
 * own, answers with bytes in base64, and knows the paths of these endpoints.
 */
export const mediaFeature = 'media'

export const toolShape = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().max(1000).default(''),
  /** A JSON schema. */
  parameters: z.record(z.string(), z.unknown()),
})

export const failureCodes = [
  'connection_failed',
  'request_timeout',
  'not_served',
  'overloaded',
  'tool_failed',
  'internal_error',
] as const

/** The frames that a gateway sends. */
export const fromGateway = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    id,
    version: z.string().max(50),
    providers: z.array(name).max(bounds.providers),
    models: z.array(z.object({ provider: name, name })).max(bounds.models),
    tools: z.array(toolShape).max(bounds.tools).default([]),
    features: z.array(z.string().max(50)).max(20).default([]),
  }),
  z.object({
    type: z.literal('chunk'),
    id,
    data: z.string(),
    /** Set where `data` is not text. */
    encoding: z.literal('base64').optional(),
    headers,
  }),
  z.object({
    type: z.literal('response'),
    id,
    status: z.int().min(200).max(599),
    headers,
    body: z.string().nullish(),
  }),
  z.object({
    type: z.literal('error'),
    id,
    code: z.enum(failureCodes),
    message: z.string().max(500),
    /** Whether the server behind the gateway may have received the request. */
    sent: z.boolean().default(true),
  }),
  z.object({ type: z.literal('tool_result'), id, content: z.string(), is_error: z.boolean() }),
  z.object({ type: z.literal('heartbeat'), id }),
  /** Grants more bytes of a request's content. */
  z.object({ type: z.literal('window'), id, bytes: z.int().min(1) }),
])
export type FromGateway = z.output<typeof fromGateway>
export type GatewayFrame<Type extends FromGateway['type']> = Extract<FromGateway, { type: Type }>

/** A message by which a self-hosted gateway reports a failed request. */
export type GatewayFailure = Extract<FromGateway, { type: 'error' }>

/** The first message of a self-hosted gateway, and each later one about its capabilities. */
export type GatewayHello = Extract<FromGateway, { type: 'hello' }>

/** The frames that Tollgate sends. */
export const toGateway = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    id,
    gateway_id: z.string(),
    heartbeat_seconds: z.int().min(1),
    refused: z.array(
      z.object({
        what: z.enum(['provider', 'model', 'tool']),
        name: z.string(),
        reason: z.string(),
      }),
    ),
  }),
  z.object({
    type: z.literal('request'),
    id,
    provider: name,
    model: name,
    path: z.string().startsWith('/').max(200),
    body: z.record(z.string(), z.unknown()),
    stream: z.boolean(),
    /** Sent in place of `body`: it follows in `content` frames. */
    content: z.object({ type: z.string().max(200), bytes: z.int().min(0) }).optional(),
    /** Whether the answer may be other than text: all of it is in base64. */
    binary: z.boolean().optional(),
    window: z.int().min(1),
    timeout_ms: z.int().min(1),
  }),
  z.object({ type: z.literal('window'), id, bytes: z.int().min(1) }),
  z.object({ type: z.literal('cancel'), id }),
  z.object({
    type: z.literal('tool_call'),
    id,
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    timeout_ms: z.int().min(1),
    most_bytes: z.int().min(1),
  }),
  z.object({ type: z.literal('ping'), id }),
  z.object({ type: z.literal('error'), id, code: z.string(), message: z.string() }),
  /** A piece of a request's content, in base64. */
  z.object({ type: z.literal('content'), id, data: z.string() }),
])
export type ToGateway = z.output<typeof toGateway>

/** The headers of a model server's answer that a gateway sends, and Tollgate passes on. */
export const forwardedHeaders: readonly string[] = ['content-type', 'retry-after', 'x-request-id']
