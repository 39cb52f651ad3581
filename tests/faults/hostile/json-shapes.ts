import type { Attack } from './effect'

const shapes = [
  'logit-bias',
  'unknown-keys',
  'empty-objects',
  'many-numbers',
  'many-messages',
  'escaped-text',
  'long-text',
] as const
const answers = ['nested-answer', 'many-objects-answer'] as const

export type Shape = (typeof shapes)[number]
export type AnswerShape = (typeof answers)[number]

/** An attack by bodies of 10 to 32 MB with excessive structure. */
export const jsonShape = (shape: Shape, clients = 2): Attack => ({
  name: `body of ${shape}`,
  assault: ({ key }) => ({ body: shape, clients, key }),
})

/** An attack by answers of that shape from a customer's own provider. */
export const answerShape = (shape: AnswerShape, clients = 2): Attack => ({
  name: `answer of ${shape}`,
  assault: ({ key }) => ({ body: `whole:${shape}`, clients, key }),
})

export const jsonShapes = [
  ...shapes.map((shape) => jsonShape(shape)),
  ...answers.map((shape) => answerShape(shape)),
]
