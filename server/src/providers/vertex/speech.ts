import { getSurface } from './address'
import { speechOfGoogle } from '../google/speech'

/**
 * The Gemini models that speak, on Vertex.
 * @see https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/speech/text-to-speech
 */
export const vertexSpeech = speechOfGoogle(
  '/publishers/google/models',
  (model) => getSurface(model).model,
)
