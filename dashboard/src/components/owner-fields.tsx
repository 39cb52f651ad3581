import { Select } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { ownOrganizationsQuery } from '../collections'
import { billingModes, mine } from '../connections'

interface Props<Fields> {
  form: UseFormReturnType<Fields>
  /** The field of whose it is. */
  owner: string
  /** The field of who pays. */
  payer: string
}

/** Whose something is, for who manages an organization, and who pays for what it serves. */
export function OwnerFields<Fields extends object>({ form, owner, payer }: Props<Fields>) {
  const { data: organizations = [] } = useQuery(ownOrganizationsQuery)
  if (organizations.length === 0) return undefined
  return (
    <>
      <Select
        label="Whose"
        description="All members of an organization may call what its connections serve."
        allowDeselect={false}
        data={[
          { value: mine, label: 'Yours alone' },
          ...organizations.map(({ id, name }) => ({ value: id, label: name })),
        ]}
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
}
