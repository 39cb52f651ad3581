/** Fields of requests for images that only tune them. */
const tuningFields = [
  'size',
  'quality',
  'output_compression',
  'background',
  'style',
  'moderation',
  'input_fidelity',
  'partial_images',
] as const

/** Returns the fields of a request that a provider lacks: those that tune the image, but for the ones that it has. */
export const findOmittedFields = (
  wish: object,
  knownFields: readonly (typeof tuningFields)[number][],
): string[] => {
  const values = new Map<string, unknown>(Object.entries(wish))
  return tuningFields.filter(
    (name) => !knownFields.includes(name) && (values.get(name) ?? 'auto') !== 'auto',
  )
}
