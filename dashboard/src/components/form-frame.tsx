import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { FormButtons } from './form-buttons'
import { Problem } from './problem'

interface Props<Fields> {
  form: {
    onSubmit: (
      handle: (fields: Fields) => void,
    ) => (event?: React.FormEvent<HTMLFormElement>) => void
  }
  /** The result of `useSubmit` for that form. */
  submission: {
    submit: (fields: Fields) => Promise<void>
    isBusy: boolean
    error: Error | undefined
  }
  /** The submit action, as a verb. */
  label: string
  onCancel: () => void
  children: ReactNode
}

/** A form in a dialog: error message, fields and buttons. */
export const FormFrame = <Fields,>({
  form,
  submission: { submit, isBusy, error },
  label,
  onCancel,
  children,
}: Props<Fields>) => (
  <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
    <Stack gap="sm">
      <Problem error={error} />
      {children}
      <FormButtons label={label} isBusy={isBusy} onCancel={onCancel} />
    </Stack>
  </form>
)
