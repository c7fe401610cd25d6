package plugins

import "slices"

// Code names one finding about a plugin. Codes are stable interface: a code keeps its meaning for ever and is never used
// for anything else. The parameters of each are listed by [Codes].
type Code string

// The codes of plugins.
const (
	// PluginManifestInvalid: a declared field is invalid.
	PluginManifestInvalid Code = "PluginManifestInvalid"
	// PluginNotCompiled: a manifest names an id that this host was not built with.
	PluginNotCompiled Code = "PluginNotCompiled"
	// PluginIdConflict: a second directory names an id that is taken; the first stays.
	PluginIdConflict Code = "PluginIdConflict"
	// PluginDirectoryInvalid: a directory has a name that is not allowed.
	PluginDirectoryInvalid Code = "PluginDirectoryInvalid"
	// PluginManifestUnreadable: a manifest cannot be read or parsed.
	PluginManifestUnreadable Code = "PluginManifestUnreadable"
	// PluginReservedId: a manifest names an id of the host's own.
	PluginReservedId Code = "PluginReservedId"
	// PluginRuntimeUnsupported: a manifest asks for a runtime that this host does not have.
	PluginRuntimeUnsupported Code = "PluginRuntimeUnsupported"
	// PluginRawHooks: the plugin registers raw hooks.
	PluginRawHooks Code = "PluginRawHooks"
	// PluginModelClients: the plugin can call the session's models.
	PluginModelClients Code = "PluginModelClients"
	// PluginNameConflict: a display name is taken; the plugin is not loaded.
	PluginNameConflict Code = "PluginNameConflict"
	// PluginHostVersionUnsatisfied: the host is below the floor of the plugin.
	PluginHostVersionUnsatisfied Code = "PluginHostVersionUnsatisfied"
	// PluginEntryMissing: the entry of a bundle is absent.
	PluginEntryMissing Code = "PluginEntryMissing"
	// PluginEntryInvalid: a bundle cannot be admitted, copied or started.
	PluginEntryInvalid Code = "PluginEntryInvalid"
	// PluginGraphInvalid: the module's fx graph lacks something; no constructor has run.
	PluginGraphInvalid Code = "PluginGraphInvalid"
	// PluginUntrusted: there is no grant for the id.
	PluginUntrusted Code = "PluginUntrusted"
	// PluginTrustModified: the bytes are not those that were granted.
	PluginTrustModified Code = "PluginTrustModified"
	// PluginDependencyUnsatisfied: a provider is not usable.
	PluginDependencyUnsatisfied Code = "PluginDependencyUnsatisfied"
	// PluginDependencyCycle: the plugin requires itself through others.
	PluginDependencyCycle Code = "PluginDependencyCycle"
	// PluginApiAssemblyConflict: two direct providers export one interface to this consumer.
	PluginApiAssemblyConflict Code = "PluginApiAssemblyConflict"
	// PluginApiExportInvalid: an export is not usable.
	PluginApiExportInvalid Code = "PluginApiExportInvalid"
	// PluginServiceExportMissing: an import cannot be served.
	PluginServiceExportMissing Code = "PluginServiceExportMissing"
	// PluginActivationFailed: construction, start or background work failed.
	PluginActivationFailed Code = "PluginActivationFailed"
	// PluginActivationTimeout: the activation was not done in time.
	PluginActivationTimeout Code = "PluginActivationTimeout"
	// PluginDataDirectoryFailed: a data directory could not be made; the plugin starts all the same.
	PluginDataDirectoryFailed Code = "PluginDataDirectoryFailed"
	// PluginCleanupFailed: there were errors during a teardown.
	PluginCleanupFailed Code = "PluginCleanupFailed"
	// PluginDrainTimeout: a teardown outlasted the cleanup timeout.
	PluginDrainTimeout Code = "PluginDrainTimeout"
	// PluginReclaimFailed: a clean-up after reclaim was given up.
	PluginReclaimFailed Code = "PluginReclaimFailed"
	// PluginToolContributionInvalid: a registration of a plugin is not admitted.
	PluginToolContributionInvalid Code = "PluginToolContributionInvalid"
	// PluginContributionInvalid: another contribution was admitted and then left out.
	PluginContributionInvalid Code = "PluginContributionInvalid"
	// PluginSettingsNotDeclared: there are settings for a plugin that declares none.
	PluginSettingsNotDeclared Code = "PluginSettingsNotDeclared"
	// PluginSettingsDocumentInvalid: a settings document is not usable.
	PluginSettingsDocumentInvalid Code = "PluginSettingsDocumentInvalid"
	// PluginSettingsNamespaceInvalid: a plugin's part of the settings is invalid.
	PluginSettingsNamespaceInvalid Code = "PluginSettingsNamespaceInvalid"
	// PluginSettingsMutationInvalid: a change of settings is invalid.
	PluginSettingsMutationInvalid Code = "PluginSettingsMutationInvalid"
	// PluginSettingsScopeUnavailable: the scope has no directory.
	PluginSettingsScopeUnavailable Code = "PluginSettingsScopeUnavailable"
	// PluginSettingsWriteFailed: settings could not be written.
	PluginSettingsWriteFailed Code = "PluginSettingsWriteFailed"
	// PluginOperationIncomplete: a teardown is still running, a reconcile came without a quiesce, or the host is stopping.
	PluginOperationIncomplete Code = "PluginOperationIncomplete"
	// PluginCandidateInvalid: a bundle could not be read again.
	PluginCandidateInvalid Code = "PluginCandidateInvalid"
	// PluginRuntimeNotDeclared: trust was asked for something that has no bundle.
	PluginRuntimeNotDeclared Code = "PluginRuntimeNotDeclared"
	// PluginTrustNotPersisted: a grant or a revocation could not be written.
	PluginTrustNotPersisted Code = "PluginTrustNotPersisted"
	// PluginEnablementNotPersisted: the switch could not be written.
	PluginEnablementNotPersisted Code = "PluginEnablementNotPersisted"
	// PluginContributionQuiesceFailed: a holder of directory-backed parts did not let go; no file was touched.
	PluginContributionQuiesceFailed Code = "PluginContributionQuiesceFailed"
)

// CodeKind says where a code appears.
type CodeKind string

// The kinds of codes.
const (
	KindBlocker    CodeKind = "blocker"    // why a plugin is blocked
	KindFault      CodeKind = "fault"      // how a plugin faulted
	KindDiagnostic CodeKind = "diagnostic" // among the diagnostics of a plugin
	KindOperation  CodeKind = "operation"  // in the result of an operation
	KindNote       CodeKind = "note"       // a note of discovery
)

// CodeDoc documents one code.
type CodeDoc struct {
	Code    Code
	Kinds   []CodeKind
	Meaning string   // one sentence without a full stop
	Params  []string // names of the parameters
}

// Codes lists the codes of plugins, in a fixed order. The slice belongs to the caller.
func Codes() []CodeDoc { return slices.Clone(codeDocs) }

var codeDocs = []CodeDoc{
	{PluginManifestInvalid, []CodeKind{KindBlocker, KindNote}, "a declared field is invalid", []string{"field", "reasonCode"}},
	{PluginNotCompiled, []CodeKind{KindNote}, "a manifest names an id that this host was not built with", []string{"pluginId", "directory"}},
	{PluginIdConflict, []CodeKind{KindNote}, "a second directory names an id that is taken; the first stays", []string{"pluginId", "directory", "keptBy"}},
	{PluginDirectoryInvalid, []CodeKind{KindNote}, "a directory has a name that is not allowed", []string{"directory"}},
	{PluginManifestUnreadable, []CodeKind{KindNote}, "a manifest cannot be read or parsed", []string{"directory", "line", "column"}},
	{PluginReservedId, []CodeKind{KindNote}, "a manifest names an id of the host's own", []string{"pluginId", "directory"}},
	{PluginRuntimeUnsupported, []CodeKind{KindNote}, "a manifest asks for a runtime that this host does not have", []string{"runtime", "directory"}},
	{PluginRawHooks, []CodeKind{KindNote}, "the plugin registers raw hooks", []string{"pluginId", "count"}},
	{PluginModelClients, []CodeKind{KindNote}, "the plugin can call the session's models", []string{"pluginId"}},
	{PluginNameConflict, []CodeKind{KindNote}, "a display name is taken; the plugin is not loaded", []string{"name", "pluginId", "keptBy"}},
	{PluginHostVersionUnsatisfied, []CodeKind{KindBlocker}, "the host is below the floor of the plugin", []string{"required", "observed"}},
	{PluginEntryMissing, []CodeKind{KindBlocker}, "the entry of a bundle is absent", []string{"entry"}},
	{PluginEntryInvalid, []CodeKind{KindBlocker}, "a bundle cannot be admitted, copied or started", []string{"reason"}},
	{PluginGraphInvalid, []CodeKind{KindBlocker}, "the module's fx graph lacks something; no constructor has run", []string{"detail"}},
	{PluginUntrusted, []CodeKind{KindBlocker}, "there is no grant for the id", []string{"pluginId", "trustStatus", "fingerprintPrefix"}},
	{PluginTrustModified, []CodeKind{KindBlocker}, "the bytes are not those that were granted", []string{"pluginId", "trustStatus", "fingerprintPrefix", "trustedFingerprintPrefix"}},
	{PluginDependencyUnsatisfied, []CodeKind{KindBlocker}, "a provider is not usable", []string{"providerId", "requiredVersion", "observedVersion", "reason"}},
	{PluginDependencyCycle, []CodeKind{KindBlocker}, "the plugin requires itself through others", []string{"cyclePluginIds"}},
	{PluginApiAssemblyConflict, []CodeKind{KindBlocker}, "two direct providers export one interface to this consumer", []string{"contract", "providerIds"}},
	{PluginApiExportInvalid, []CodeKind{KindBlocker}, "an export is not usable", []string{"contract", "reasonCode"}},
	{PluginServiceExportMissing, []CodeKind{KindBlocker}, "an import cannot be served", []string{"providerId", "contract", "reasonCode"}},
	{PluginActivationFailed, []CodeKind{KindFault}, "construction, start or background work failed", []string{"phase", "generationId", "reason"}},
	{PluginActivationTimeout, []CodeKind{KindFault}, "the activation was not done in time", []string{"phase", "generationId"}},
	{PluginDataDirectoryFailed, []CodeKind{KindDiagnostic}, "a data directory could not be made; the plugin starts all the same", []string{"scope"}},
	{PluginCleanupFailed, []CodeKind{KindDiagnostic}, "there were errors during a teardown", []string{"phase", "generationId", "count"}},
	{PluginDrainTimeout, []CodeKind{KindDiagnostic}, "a teardown outlasted the cleanup timeout", []string{"phase", "generationId"}},
	{PluginReclaimFailed, []CodeKind{KindDiagnostic}, "a clean-up after reclaim was given up", []string{"generationId", "attempts"}},
	{PluginToolContributionInvalid, []CodeKind{KindDiagnostic}, "a registration of a plugin is not admitted", []string{"toolId", "sourceId", "reasonCode", "keyword", "detail"}},
	{PluginContributionInvalid, []CodeKind{KindDiagnostic}, "another contribution was admitted and then left out", []string{"point", "name", "reasonCode"}},
	{PluginSettingsNotDeclared, []CodeKind{KindDiagnostic, KindOperation}, "there are settings for a plugin that declares none", []string{"pluginId"}},
	{PluginSettingsDocumentInvalid, []CodeKind{KindBlocker, KindOperation}, "a settings document is not usable", []string{"layer"}},
	{PluginSettingsNamespaceInvalid, []CodeKind{KindBlocker, KindOperation}, "a plugin's part of the settings is invalid", []string{"field", "layer", "reasonCode"}},
	{PluginSettingsMutationInvalid, []CodeKind{KindOperation}, "a change of settings is invalid", []string{"field", "reasonCode"}},
	{PluginSettingsScopeUnavailable, []CodeKind{KindOperation}, "the scope has no directory", []string{"scope"}},
	{PluginSettingsWriteFailed, []CodeKind{KindOperation}, "settings could not be written", []string{"scope"}},
	{PluginOperationIncomplete, []CodeKind{KindOperation}, "a teardown is still running, a reconcile came without a quiesce, or the host is stopping", []string{"pluginId", "state"}},
	{PluginCandidateInvalid, []CodeKind{KindOperation}, "a bundle could not be read again", []string{"reason"}},
	{PluginRuntimeNotDeclared, []CodeKind{KindOperation}, "trust was asked for something that has no bundle", []string{"pluginId"}},
	{PluginTrustNotPersisted, []CodeKind{KindOperation}, "a grant or a revocation could not be written", []string{"reason"}},
	{PluginEnablementNotPersisted, []CodeKind{KindOperation}, "the switch could not be written", []string{"source"}},
	{PluginContributionQuiesceFailed, []CodeKind{KindOperation}, "a holder of directory-backed parts did not let go; no file was touched", []string{"phase", "failureType"}},
}
