/**
 * Keys of the reference (its documented config.toml) that are accepted and do nothing here: a file written for it
 * loads with one warning per key. `*` stands for a name chosen by the person. What lies below a key is looked at
 * where keys below it are listed as well.
 */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...below(
    '',
    `
    agents analytics approvals_reviewer apps apps_mcp_product_sku audio auto_review chatgpt_base_url
    check_for_update_on_startup cli_auth_credentials_store commit_attribution desktop disable_paste_burst
    disable_response_storage experimental_instructions_file experimental_realtime_start_instructions
    experimental_realtime_webrtc_call_base_url experimental_realtime_ws_backend_prompt
    experimental_realtime_ws_base_url experimental_realtime_ws_model experimental_thread_config_endpoint
    experimental_thread_store_endpoint experimental_use_freeform_apply_patch experimental_use_unified_exec_tool
    feedback file_opener forced_chatgpt_workspace_id forced_login_method ghost_snapshot goals harness_guidance
    history include_apply_patch_tool include_apps_instructions include_collaboration_mode_instructions
    include_skill_instructions instructions js_repl_node_module_dirs js_repl_node_path marketplaces
    mcp_oauth_callback_port mcp_oauth_callback_url mcp_oauth_credentials_store memories
    model_auto_compact_token_limit_scope model_supports_reasoning_summaries network notice orchestrator
    personality plan_mode_reasoning_effort plugins realtime responses_api_metadata
    suppress_unstable_features_warning tool_suggest tools tui windows windows_wsl_setup_acknowledged zsh_path
  `,
  ),
  ...below(
    'tools.',
    'default_mode_request_user_input experimental_request_user_input update_plan view_image web_search web_search_request',
  ),
  ...below(
    'model_providers.*.',
    `
    aws.profile http_headers_helper requires_openai_auth supports_standalone_web_search supports_websockets
    websocket_connect_timeout_ms
  `,
  ),
  ...below(
    'mcp_servers.*.',
    `
    auth environment_id experimental_environment http_headers_helper name oauth oauth_callback_port
    oauth_client_id
  `,
  ),
  ...below(
    'permissions.*.network.',
    `
    admin_url allow_local_binding allow_upstream_proxy dangerously_allow_non_loopback_admin
    dangerously_allow_non_loopback_proxy enable_socks5 enable_socks5_udp mitm mode proxy_url socks_url
    unix_sockets
  `,
  ),
  ...below(
    'features.',
    `
    apply_patch_freeform apply_patch_preserve_line_endings apps auto_review browser_use child_agents_md
    code_mode code_mode_only collab collaboration_modes computer_use connectors default_mode_request_user_input
    elevated_windows_sandbox enable_experimental_windows_sandbox enable_fanout enable_request_compression
    exec_permission_approvals experimental_use_freeform_apply_patch experimental_use_unified_exec_tool
    experimental_windows_sandbox fast_mode goals guardian_approval image_detail_original image_generation
    in_app_browser include_apply_patch_tool js_repl js_repl_tools_only memories memory_tool multi_agent
    multi_agent_v2 network_proxy parallel personality plugins powershell_utf8 prevent_idle_sleep
    realtime_conversation remote_compaction remote_compaction_v2 remote_models remote_plugin request_permissions
    request_permissions_tool request_rule responses_websockets responses_websockets_v2 runtime_metrics
    search_tool shell_snapshot shell_tool shell_zsh_fork skill_env_var_dependency_prompt
    skill_mcp_dependency_install skill_search skills sqlite standalone_web_search steer terminal_resize_reflow
    token_budget tool_call_mcp_elicitation tool_suggest tui_app_server unbounded_connection_retries undo_redo
    unified_exec_zsh_fork use_legacy_landlock use_linux_sandbox_bwrap view_image_tool voice_transcription
    web_search web_search_cached web_search_request workspace_dependencies workspace_owner_usage_nudge
  `,
  ),
  ...below(
    '',
    `
    shell_environment_policy.experimental_use_profile skills.bundled otel.tracestate hooks.PermissionRequest
    hooks.PostCompact hooks.SubagentStart hooks.SubagentStop hooks.state
  `,
  ),
]);

function below(prefix: string, names: string): string[] {
  return names
    .trim()
    .split(/\s+/)
    .map(name => prefix + name);
}
