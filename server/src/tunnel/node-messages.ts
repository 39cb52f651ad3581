import { z } from 'zod'
import { tunnelRequestHead } from './tunnel-request'
import { bounds, fromGateway } from './frames'

/** The version of the messages between nodes. Messages of another version are ignored. */
export const version = 1

const short = z.string().min(1).max(64)
const [, chunk, response, error, toolResult, , window] = fromGateway.options

/** The frames with which a gateway answers a call. */
const answerFrame = z.discriminatedUnion('type', [chunk, response, error, toolResult, window])
export type AnswerFrame = z.output<typeof answerFrame>

/** `from` and `epoch`: the sending node, and since when it has missed no message. */
const envelope = { v: z.literal(version), from: short, epoch: short }
const ofCall = { ...envelope, call: short }

/** The messages between nodes. */
export const nodeMessage = z.discriminatedUnion('type', [
  z.object({ ...envelope, type: z.literal('alive') }),
  // From the calling node.
  z.object({
    ...ofCall,
    type: z.literal('open'),
    gateway: short,
    /** The socket that the gateway must have. */
    socket: short,
    head: tunnelRequestHead,
  }),
  /** The payload of an accepted call, or the key that it is stored under. */
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
  /** A piece of the request's content, in base64. */
  z.object({
    ...ofCall,
    type: z.literal('content'),
    data: z.string().max(2 * bounds.contentBytes),
  }),
  // From the node that has the gateway.
  z.object({ ...ofCall, type: z.literal('accepted') }),
  /** Nothing was sent to the gateway, and nothing will be. */
  z.object({ ...ofCall, type: z.literal('refused') }),
  /** The payload is here. */
  z.object({ ...ofCall, type: z.literal('taken') }),
  z.object({ ...ofCall, type: z.literal('frame'), frame: answerFrame }),
  /** The gateway is lost. */
  z.object({ ...ofCall, type: z.literal('lost') }),
])
export type NodeMessage = z.output<typeof nodeMessage>

/** A kind of message. */
export type NodeMessageKind<Type extends NodeMessage['type']> = Extract<NodeMessage, { type: Type }>

type Content<Message> = Message extends NodeMessage ? Omit<Message, keyof typeof envelope> : never

/** A message without its sender. */
export type NodeMessageBody = Content<NodeMessage>

/** Parses a message; undefined for one that is not of this version. */
export function readNodeMessage(text: string): NodeMessage | undefined {
  try {
    return nodeMessage.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
