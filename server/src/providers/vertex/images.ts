import { getSurface } from './address'
import { imagesOfGoogle } from '../google/images'

/** Imagen, and the Gemini models that draw, on Vertex. */
export const vertexImages = imagesOfGoogle(
  '/publishers/google/models',
  (model) => getSurface(model).model,
)
