import type { Behaviour } from './call.ts'
import { badBodies } from './behaviours/bad-bodies.ts'
import { encodings } from './behaviours/encodings.ts'
import { endings } from './behaviours/endings.ts'
import { errorsInside } from './behaviours/errors-inside.ts'
import { framing } from './behaviours/framing.ts'
import { httpOddities } from './behaviours/http-oddities.ts'
import { shapes } from './behaviours/shapes.ts'
import { statuses } from './behaviours/statuses.ts'
import { timing } from './behaviours/timing.ts'
import { toolCalls } from './behaviours/tool-calls.ts'
import { usage } from './behaviours/usage.ts'
import { embeddings } from './embeddings.ts'

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

/** The behaviour of that name at an endpoint; embeddings have some of their own. */
export function behaviourOf(path: string, name: string): Behaviour | undefined {
  const own = path.endsWith('/embeddings') ? embeddings : {}
  return Object.hasOwn(own, name)
    ? own[name]
    : Object.hasOwn(behaviours, name)
      ? behaviours[name]
      : undefined
}
