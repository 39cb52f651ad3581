import { getSurface } from './address'
import { transcriptionsOfGoogle } from '../google/transcription'

/**
 * The Gemini models that transcribe, on Vertex.
 * @see https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/3-5-transcribe
 */
export const vertexTranscriptions = transcriptionsOfGoogle(
  '/publishers/google/models',
  (model) => getSurface(model).model,
)
