import { Button, Fieldset, Group, Select, TagsInput, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { ResourceForm } from '../../components/resource-form'
import type { DirectoryFields, GroupMapping, ScimDirectory } from './queries'

const roles: GroupMapping['role'][] = ['admin', 'developer', 'viewer', 'member']

interface Props {
  /** The directory to edit; undefined for a new one. */
  directory?: ScimDirectory
  /** Whether the form has domains, and organizations of groups. */
  isOperator: boolean
  save: (fields: DirectoryFields) => Promise<unknown>
  onCancel: () => void
}

/** The form of a SCIM directory: its name, its domains, and what its groups make members of. */
export function DirectoryForm({ directory, isOperator, save, onCancel }: Props) {
  const form = useForm<DirectoryFields>({
    initialValues: {
      name: directory?.name ?? '',
      domains: directory?.domains ?? [],
      groups: directory?.groups ?? [],
    },
  })
  const organizationId = directory?.organization_id ?? ''
  return (
    <ResourceForm form={form} save={save} label={directory ? 'Save' : 'Create'} onCancel={onCancel}>
      <TextInput
        label="Name"
        description="The identity provider, such as Entra ID"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      {isOperator && (
        <TagsInput
          label="Domains"
          description="Of mail addresses that this company alone gives out: the directory gets every account with such an address."
          placeholder="example.com"
          {...form.getInputProps('domains')}
        />
      )}
      <Fieldset legend="Groups">
        {form.values.groups.map((_group, index) => (
          <GroupRow
            // Rows have no name of their own until they are filled in.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            form={form}
            index={index}
            hasOrganization={isOperator && organizationId === ''}
          />
        ))}
        <Button
          variant="default"
          size="xs"
          mt="xs"
          onClick={() =>
            form.insertListItem('groups', {
              group_name: '',
              organization_id: organizationId,
              role: 'member',
            })
          }
        >
          Add group
        </Button>
      </Fieldset>
    </ResourceForm>
  )
}

interface GroupRowProps {
  form: UseFormReturnType<DirectoryFields>
  index: number
  hasOrganization: boolean
}

/** A group at the identity provider, and the membership that it makes. */
const GroupRow = ({ form, index, hasOrganization }: GroupRowProps) => (
  <Group align="flex-end" gap="xs">
    <TextInput
      label="Group"
      required
      maxLength={256}
      {...form.getInputProps(`groups.${index}.group_name`)}
    />
    {hasOrganization && (
      <TextInput
        label="Organization ID"
        required
        placeholder="org_…"
        {...form.getInputProps(`groups.${index}.organization_id`)}
      />
    )}
    <Select
      label="Role"
      data={roles}
      allowDeselect={false}
      w={130}
      {...form.getInputProps(`groups.${index}.role`)}
    />
    <Button
      variant="subtle"
      color="red"
      aria-label={`Remove group ${form.values.groups[index]?.group_name ?? ''}`}
      onClick={() => form.removeListItem('groups', index)}
    >
      Remove
    </Button>
  </Group>
)
