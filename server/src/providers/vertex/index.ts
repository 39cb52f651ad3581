import { getSurface } from './address'
import { gemini } from '../google'
import type { Adapter } from '../adapter'

const models = gemini({
  path: '/publishers/google/models',
  // Vertex distinguishes calls by name and order; older models refuse an id.
  callIds: false,
  safetySettings: [],
})

/** The Gemini models on Vertex, behind either base URL. */
export const vertexGemini: Adapter = {
  ...models,
  request: (chat, target) =>
    models.request(chat, { ...target, upstreamModel: getSurface(target.upstreamModel).model }),
}
