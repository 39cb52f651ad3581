import type { Behaviour } from '../call'
import { deliver, framesOf, openAnswer, writeFrames } from '../deliver'
import { messagesAnswer } from '../messages'
import { textScript, wordScript } from '../script'

/** `cache-<read>-<written>`: that many tokens were read from a cache and written to it. */
const cache: Behaviour = async (call) => {
  const [read, written] = call.argument.split('-').map(Number)
  const own = { cache_read_input_tokens: read, cache_creation_input_tokens: written }
  await deliver(call, messagesAnswer(call, wordScript(5), own))
}

/** Says nothing about what it used. */
const uncounted: Behaviour = async (call) => {
  await deliver(call, messagesAnswer(call, textScript('Nobody has counted this.'), null))
}

/** The whole answer, on a connection that stays open. */
const open: Behaviour = async (call) => {
  const answer = messagesAnswer(call, wordScript(5))
  openAnswer(call, answer)
  await writeFrames(call, framesOf(answer))
  await call.reply.connection.sleep(Infinity)
}

/** All but the event that ends the message. */
const unstopped: Behaviour = async (call) => {
  const answer = messagesAnswer(call, wordScript(5))
  openAnswer(call, answer)
  await writeFrames(call, framesOf(answer).slice(0, -1))
  await call.reply.finish()
}

/** Of Anthropic's Messages format alone. */
export const messages: Record<string, Behaviour> = {
  cache,
  uncounted,
  'stop-open': open,
  'no-stop': unstopped,
}
