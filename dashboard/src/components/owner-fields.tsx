import { Select, type SelectProps } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { ownOrganizationsQuery } from '../collections'
import { billingModes, mine } from '../connections'

/** Whose something is; nothing for who manages no organization. */
export function OwnerSelect(props: SelectProps) {
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  if (organizations.length === 0) return undefined
  return (
    <Select
      label="Whose"
      allowDeselect={false}
      {...props}
      data={[
        { value: mine, label: 'Yours alone' },
        ...organizations.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  )
}

interface Props<Fields> {
  form: UseFormReturnType<Fields>
  /** The field of whose it is. */
  owner: string
  /** The field of who pays. */
  payer: string
}

/** Whose something is, for who manages an organization, and who pays for what it serves. */
export const OwnerFields = <Fields extends object>({ form, owner, payer }: Props<Fields>) => (
  <>
    <OwnerSelect
      description="All members of an organization may call what its connections serve."
      {...form.getInputProps(owner)}
    />
    {Reflect.get(form.values, owner) !== mine && (
      <Select
        label="Who pays for what it serves"
        allowDeselect={false}
        data={billingModes}
        {...form.getInputProps(payer)}
      />
    )}
  </>
)
