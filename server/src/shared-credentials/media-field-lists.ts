/**
 * The fate of a field on a shared credential. `omitted`: left out and named to the caller, because it only tunes
 * the answer. `refused`: 400, because without it the answer would mean or cost something else. `reference`: the same,
 * as it names what the provider's account holds. A field without an entry is omitted.
 */
export type SharedFate = 'passed' | 'omitted' | 'refused' | 'reference'

export type FateByField = Readonly<Record<string, SharedFate>>

export const passFields = (...names: readonly string[]): FateByField =>
  Object.fromEntries(names.map((name) => [name, 'passed']))

/** The fields of requests for images and sound. */
export const mediaFieldLists = {
  image: {
    ...passFields(
      ...'model prompt n size quality style background moderation user safety_identifier'.split(
        ' ',
      ),
      ...'response_format output_format output_compression stream partial_images'.split(' '),
      ...'complexity frame_count frame_duration_ms'.split(' '),
      ...'images image mask input_fidelity'.split(' '),
    ),
    // Another model draws, at its own price.
    svg: 'refused',
    markup: 'refused',
  },
  speech: passFields(
    ...'model input voice instructions response_format speed stream_format'.split(' '),
  ),
  transcription: passFields(
    ...'model file language prompt response_format temperature stream include'.split(' '),
    ...'timestamp_granularities chunking_strategy keywords languages'.split(' '),
    ...'known_speaker_names known_speaker_references'.split(' '),
  ),
} satisfies Readonly<Record<string, FateByField>>
