import { z } from 'zod'
import { send, type MessagePorts } from './messages'
import { Exchange, NewMessage } from './schema'
import { account } from '../http/access'
import { objectId } from '../http/answers'
import { route } from '../http/route'
import { modelErrors } from '../v1/description'
import type { ReplyPorts } from '../v1/reply'

/** Sends a message of a session to its model: paid, limited and logged as a chat completion. */
export const sendMessageRoute = (ports: MessagePorts, reply: ReplyPorts) =>
  route({
    method: 'post',
    path: '/api/automation/sessions/:id/messages',
    access: account('write', { body: 'larger' }),
    operationId: 'sendAutomationMessage',
    tag: 'Automation',
    summary: 'Send a message in a session',
    notes:
      'The model receives the whole conversation, with the limits, holds and prices of a chat completion. A session has one running message at a time. With `stream` true the answer is 200 and the chunks of `/v1/chat/completions`.',
    params: { id: objectId('sess').describe('ID of the session') },
    body: NewMessage,
    examples: {
      'A question': { content: 'Hello!' },
      'As a stream': { content: 'Hello!', stream: true },
    },
    responses: {
      200: {
        description:
          'With `stream` true: server-sent chunks of a chat completion; results of tools in `tool_message` beside empty deltas',
        content: {
          'text/event-stream': z
            .string()
            .describe('`data: <chunk>` lines, ended by `data: [DONE]`'),
        },
      },
      201: Exchange,
    },
    errors: [...modelErrors, 'resource_not_found'],
    handler: ({ c, params: { id }, body }) =>
      send({ c, sessionId: id, message: body }, ports, reply),
  })
