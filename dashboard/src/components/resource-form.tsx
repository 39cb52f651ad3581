import { Button, Group, Stack } from '@mantine/core'
import { useContext, type FormEvent, type ReactNode } from 'react'
import { Problem } from './problem'
import { ReadOnlyForms } from './read-only-forms'
import { UnsavedGuard } from './unsaved-guard'
import { useSubmit } from './use-submit'

/** The parts of a Mantine form that this one uses. */
interface Form<Fields> {
  values: object
  onSubmit: (handle: (fields: Fields) => void) => (event?: FormEvent<HTMLFormElement>) => void
  setFieldError: (path: string, message: string) => void
  isDirty: () => boolean
}

interface Props<Fields> {
  form: Form<Fields>
  /** Sends the fields. An error appears at the field that the API names, else above the form. */
  save: (fields: Fields) => Promise<unknown>
  /** The submit action, as a verb. */
  label: string
  /** Receives errors by the field that the API names, where that is not the name of the form's. */
  errorFields?: Pick<Form<Fields>, 'values' | 'setFieldError'>
  /** Closes the dialog of the form. Without it the form is part of a page. */
  onCancel?: () => void
  /**
   * The kind of a form on a page: `edit` saves changes only, `action` can be submitted unchanged, and
   * `entry` is an action on a page for signed-out users, where buttons are as wide as fields.
   */
  kind?: 'edit' | 'action' | 'entry'
  /** Whether leaving the page with changed fields asks first; not for a code or a choice that is quickly made again. */
  isGuarded?: boolean
  /** Whether the fields cannot be saved now. */
  isDisabled?: boolean
  /** More buttons, after the one that submits. */
  actions?: ReactNode
  /** The error of one of `actions`, which appears above the form too. */
  actionError?: Error | undefined
  children: ReactNode
}

/** A form that creates or edits one resource: its error message, its fields and its buttons. */
export function ResourceForm<Fields>({ form, save, label, ...props }: Props<Fields>) {
  const { onCancel, kind = 'edit', isDisabled = false, errorFields = form } = props
  const isGuarded = (props.isGuarded ?? true) && kind !== 'entry'
  const { submit, isBusy, error } = useSubmit(save, errorFields)
  const isReadOnly = useContext(ReadOnlyForms)
  const needsChange = !onCancel && kind === 'edit'
  const button = (
    <Button
      type="submit"
      loading={isBusy}
      disabled={isDisabled || (needsChange && !form.isDirty())}
    >
      {label}
    </Button>
  )
  if (isReadOnly) return <LockedFields>{props.children}</LockedFields>
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      {isGuarded && <UnsavedGuard isUnsaved={form.isDirty() && !isBusy} />}
      <Stack gap="sm">
        <Problem error={error ?? props.actionError} />
        {props.children}
        <Buttons submit={button} actions={props.actions} kind={kind} onCancel={onCancel} />
      </Stack>
    </form>
  )
}

const LockedFields = ({ children }: { children: ReactNode }) => (
  <fieldset disabled style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
    <Stack gap="sm">{children}</Stack>
  </fieldset>
)

interface ButtonsProps extends Pick<Props<unknown>, 'actions'> {
  submit: ReactNode
  kind: 'edit' | 'action' | 'entry'
  onCancel: (() => void) | undefined
}

function Buttons({ submit, actions, kind, onCancel }: ButtonsProps) {
  if (onCancel) {
    return (
      <Group justify="flex-end" mt="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        {actions}
        {submit}
      </Group>
    )
  }
  return kind === 'entry' ? (
    <Stack gap="sm" mt="xs">
      {submit}
      {actions}
    </Stack>
  ) : (
    <Group>
      {submit}
      {actions}
    </Group>
  )
}
