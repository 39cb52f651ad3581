import { Select, type SelectProps } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { ownOrganizationsQuery } from '../collections/queries'
import { billingModes, mine } from '../connections/queries'

/** Selects the owner; renders nothing when the user manages no organization. */
export function OwnerSelect(props: SelectProps) {
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  if (organizations.length === 0) return undefined
  return (
    <Select
      label="Owner"
      allowDeselect={false}
      {...props}
      data={[
        { value: mine, label: 'Personal' },
        ...organizations.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  )
}

interface Props<Fields> {
  form: UseFormReturnType<Fields>
  /** The name of the owner field. */
  owner: string
  /** The name of the billing field. */
  payer: string
}

/** Selects the owner and, for an organization, the payer; for users who manage an organization. */
export const OwnerFields = <Fields extends object>({ form, owner, payer }: Props<Fields>) => (
  <>
    <OwnerSelect
      description="All members of an organization may use its connections."
      {...form.getInputProps(owner)}
    />
    {Reflect.get(form.values, owner) !== mine && (
      <Select
        label="Billed to"
        allowDeselect={false}
        data={billingModes}
        {...form.getInputProps(payer)}
      />
    )}
  </>
)
