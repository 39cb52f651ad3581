import { z } from 'zod'
import { tunnelRequestHead } from './tunnel-request'
import { bounds, fromGateway } from './frames'

/** Of what nodes say to one another. One that speaks another version is not understood, and not answered. */
export const version = 1

const short = z.string().min(1).max(64)
const [, chunk, response, error, toolResult] = fromGateway.options

/** What a gateway said to a call. */
const answered = z.discriminatedUnion('type', [chunk, response, error, toolResult])
export type Answered = z.output<typeof answered>

/** `from` and `epoch`: the node that says it, and since when it has heard all that was said to it. */
const said = { v: z.literal(version), from: short, epoch: short }
const ofCall = { ...said, call: short }

/** What nodes say to one another. */
export const nodeMessage = z.discriminatedUnion('type', [
  z.object({ ...said, type: z.literal('alive') }),
  // Of the node that asks.
  z.object({
    ...ofCall,
    type: z.literal('open'),
    gateway: short,
    /** The very socket that it has to have. */
    socket: short,
    head: tunnelRequestHead,
  }),
  /** The payload of what was accepted, or the key that it is kept by. */
  z.object({
    ...ofCall,
    type: z.literal('go'),
    payload: z.string().optional(),
    key: short.optional(),
  }),
  z.object({
    ...ofCall,
    type: z.literal('window'),
    bytes: z.int().min(1).max(bounds.windowBytes),
  }),
  z.object({ ...ofCall, type: z.literal('cancel') }),
  // Of the node that has the gateway.
  z.object({ ...ofCall, type: z.literal('accepted') }),
  /** Nothing was sent to the gateway, and nothing will be. */
  z.object({ ...ofCall, type: z.literal('refused') }),
  /** The payload is here. */
  z.object({ ...ofCall, type: z.literal('taken') }),
  z.object({ ...ofCall, type: z.literal('frame'), frame: answered }),
  /** The gateway is lost. */
  z.object({ ...ofCall, type: z.literal('lost') }),
])
export type NodeMessage = z.output<typeof nodeMessage>

/** A kind of message. */
export type NodeMessageKind<Type extends NodeMessage['type']> = Extract<NodeMessage, { type: Type }>

type Content<Message> = Message extends NodeMessage ? Omit<Message, keyof typeof said> : never

/** What is said, but for who says it. */
export type NodeMessageBody = Content<NodeMessage>

/** Undefined for what is none of this version. */
export function readNodeMessage(text: string): NodeMessage | undefined {
  try {
    return nodeMessage.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
