import type { Behaviour } from './call'
import { badBodies } from './behaviours/bad-bodies'
import { encodings } from './behaviours/encodings'
import { endings } from './behaviours/endings'
import { errorsInside } from './behaviours/errors-inside'
import { framing } from './behaviours/framing'
import { httpOddities } from './behaviours/http-oddities'
import { messages } from './behaviours/messages'
import { shapes } from './behaviours/shapes'
import { statuses } from './behaviours/statuses'
import { timing } from './behaviours/timing'
import { toolCalls } from './behaviours/tool-calls'
import { usage } from './behaviours/usage'
import { embeddings } from './embeddings'

/** Every behaviour by the name a model has; an argument may follow it after a hyphen. */
const behaviours: Record<string, Behaviour> = {
  ...timing,
  ...endings,
  ...badBodies,
  ...statuses,
  ...errorsInside,
  ...usage,
  ...framing,
  ...encodings,
  ...httpOddities,
  ...shapes,
  ...toolCalls,
}

/** The behaviour of that name at an endpoint; embeddings and messages have some of their own. */
export function behaviourOf(path: string, name: string): Behaviour | undefined {
  const own = path.endsWith('/embeddings') ? embeddings : path.endsWith('/messages') ? messages : {}
  return Object.hasOwn(own, name)
    ? own[name]
    : Object.hasOwn(behaviours, name)
      ? behaviours[name]
      : undefined
}
