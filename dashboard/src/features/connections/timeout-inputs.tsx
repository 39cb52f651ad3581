import { Fieldset, NumberInput, SimpleGrid } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Connection } from './queries'

const labels = [
  ['request_seconds', 'Without a stream'],
  ['first_byte_seconds', 'First byte of a stream'],
  ['idle_seconds', 'Pause in a stream'],
  ['stream_seconds', 'Whole stream'],
] as const

/** The timeouts of a connection in seconds; empty for those of the installation. */
export type TimeoutFields = Record<(typeof labels)[number][0], number | string>

type Timeouts = NonNullable<Connection['timeouts']>

export const toTimeoutFields = (timeouts: Connection['timeouts']): TimeoutFields => ({
  request_seconds: timeouts?.request_seconds ?? '',
  first_byte_seconds: timeouts?.first_byte_seconds ?? '',
  idle_seconds: timeouts?.idle_seconds ?? '',
  stream_seconds: timeouts?.stream_seconds ?? '',
})

const toSeconds = (field: number | string) => (field === '' ? null : Number(field))

/** Converts the fields to timeouts; null where all are empty. */
export function toTimeouts(fields: TimeoutFields): Timeouts | null {
  if (Object.values(fields).every((field) => field === '')) return null
  return {
    request_seconds: toSeconds(fields.request_seconds),
    first_byte_seconds: toSeconds(fields.first_byte_seconds),
    idle_seconds: toSeconds(fields.idle_seconds),
    stream_seconds: toSeconds(fields.stream_seconds),
  }
}

interface Props {
  form: Pick<UseFormReturnType<{ timeouts: TimeoutFields }>, 'getInputProps'>
}

/** Timeouts of a connection, which are never longer than those of the installation. */
export const TimeoutInputs = ({ form }: Props) => (
  <Fieldset legend="Timeouts in seconds">
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {labels.map(([name, label]) => (
        <NumberInput
          key={name}
          label={label}
          placeholder="Default"
          min={1}
          {...form.getInputProps(`timeouts.${name}`)}
        />
      ))}
    </SimpleGrid>
  </Fieldset>
)
