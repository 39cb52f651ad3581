import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useOperatorAccess, type OperatorEndpoint } from '../api/role'
import { ReadOnlyForms } from './read-only-forms'

interface Props {
  /** The endpoint that the content calls. */
  to: OperatorEndpoint
  children: ReactNode
}

/** Shows an action to operators whose role may do it. */
export const Permitted = ({ to, children }: Props) =>
  useOperatorAccess().may(to) ? <>{children}</> : null

/** Shows forms of a page without their buttons, and with locked fields, to operators whose role may not save them. */
export const PermittedForms = ({ to, children }: Props) => (
  <ReadOnlyForms value={!useOperatorAccess().may(to)}>{children}</ReadOnlyForms>
)

interface ButtonProps {
  to: OperatorEndpoint
  label: string
  onClick: () => void
}

/** A button that operators see whose role may call its endpoint. */
export const PermittedButton = ({ to, label, onClick }: ButtonProps) => (
  <Permitted to={to}>
    <Button onClick={onClick}>{label}</Button>
  </Permitted>
)
