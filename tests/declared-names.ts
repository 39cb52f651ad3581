import {
  type BindingPattern,
  type Class,
  type ParamPattern,
  parseSync,
  type PropertyKey,
  type TSType,
  Visitor,
} from 'oxc-parser'

/** A name that a source declares, and where it stands in it. */
export interface DeclaredName {
  readonly name: string
  readonly offset: number
  readonly isFunction: boolean
}

type Collect = (name: string, offset: number, isFunction: boolean) => void

const isFunctionType = (type: TSType | undefined): boolean => type?.type === 'TSFunctionType'

/** Collects the names that a pattern declares: not the shorthand ones of an object, whose names are its own. */
function collectBindings(pattern: BindingPattern | ParamPattern, collect: Collect): void {
  switch (pattern.type) {
    case 'Identifier':
      return collect(
        pattern.name,
        pattern.start,
        isFunctionType(pattern.typeAnnotation?.typeAnnotation),
      )
    case 'AssignmentPattern':
      return collectBindings(pattern.left, collect)
    case 'RestElement':
      return collectBindings(pattern.argument, collect)
    case 'TSParameterProperty':
      return collectBindings(pattern.parameter, collect)
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element) collectBindings(element, collect)
      return
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') collectBindings(property, collect)
        else if (!property.shorthand) collectBindings(property.value, collect)
      }
  }
}

function collectKey(
  { key, computed }: { key: PropertyKey; computed: boolean },
  collect: Collect,
  isFunction: boolean,
): void {
  if (computed) return
  if (key.type === 'Identifier') collect(key.name, key.start, isFunction)
  if (key.type === 'PrivateIdentifier') collect(key.name, key.start + 1, isFunction)
}

function collectMembers({ body }: Class, collect: Collect): void {
  for (const member of body.body) {
    if (member.type === 'MethodDefinition') collectKey(member, collect, member.kind === 'method')
    else if (member.type === 'PropertyDefinition') {
      const isFunction =
        member.value?.type === 'ArrowFunctionExpression' ||
        isFunctionType(member.typeAnnotation?.typeAnnotation)
      collectKey(member, collect, isFunction)
    }
  }
}

/**
 * Collects variables, parameters, functions, methods, class fields and the properties of types, in their order; not the
 * columns of rows: of types named `…Row`, and of those that a query of the source is said to return.
 */
export function declaredNames(path: string, source: string): DeclaredName[] {
  const found: DeclaredName[] = []
  const collect: Collect = (name, offset, isFunction) => found.push({ name, offset, isFunction })
  const collectParameters = ({ params }: { params: ParamPattern[] }): void => {
    for (const parameter of params) collectBindings(parameter, collect)
  }
  const { program } = parseSync(path, source)
  const rows = findRows(program)
  const isColumn = ({ start }: { start: number }): boolean =>
    rows.some((row) => row.start <= start && start < row.end)
  new Visitor({
    VariableDeclarator({ id, init }) {
      const isFunction = init?.type === 'ArrowFunctionExpression'
      if (id.type === 'Identifier' && isFunction) collect(id.name, id.start, true)
      else collectBindings(id, collect)
    },
    CatchClause: ({ param }) => param && collectBindings(param, collect),
    FunctionDeclaration(declaration) {
      if (declaration.id) collect(declaration.id.name, declaration.id.start, true)
      collectParameters(declaration)
    },
    FunctionExpression: collectParameters,
    ArrowFunctionExpression: collectParameters,
    TSFunctionType: collectParameters,
    TSPropertySignature(member) {
      if (isColumn(member)) return
      collectKey(member, collect, isFunctionType(member.typeAnnotation?.typeAnnotation))
    },
    TSMethodSignature(member) {
      collectKey(member, collect, true)
      collectParameters(member)
    },
    ClassDeclaration: (declaration) => collectMembers(declaration, collect),
    ClassExpression: (declaration) => collectMembers(declaration, collect),
  }).visit(program)
  return found.toSorted((one, other) => one.offset - other.offset)
}

interface Span {
  start: number
  end: number
}

/** Finds the types of rows. */
function findRows(program: ReturnType<typeof parseSync>['program']): Span[] {
  const declared = new Map<string, Span>()
  const named = new Set<string>()
  const rows: Span[] = []
  new Visitor({
    TSInterfaceDeclaration({ id, start, end }) {
      declared.set(id.name, { start, end })
      if (id.name.endsWith('Row')) named.add(id.name)
    },
    TaggedTemplateExpression({ tag, typeArguments }) {
      if (tag.type !== 'Identifier' || tag.name !== 'sql') return
      for (const type of typeArguments?.params ?? []) {
        if (type.type === 'TSTypeReference' && type.typeName.type === 'Identifier') {
          named.add(type.typeName.name)
        }
        rows.push(type)
      }
    },
  }).visit(program)
  return [...rows, ...[...named].flatMap((name) => declared.get(name) ?? [])]
}
